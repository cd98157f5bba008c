package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.SocketMessage;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Sends frames. Several answers, or several commands, may go out in one call of the kernel: to wake a peer costs more than to
 * answer it. The number of answers adapts: it grows while requests come in batches, and halves when this side must wait.
 *
 * <p>Thread-safe. Nothing is allocated after the start.
 */
final class FrameWriter {
    private static final int BUFFER_BYTES = Frame.BYTES + TextParameters.MAX_TEXT_BYTES;
    /** The most answers that are held back: half of the queue of a peer with many commands in flight. */
    private static final int MAX_HELD_ANSWERS = 16;
    /** The most commands that are held back: the target has work while more are made. */
    private static final int MAX_HELD_COMMANDS = 8;

    private final UnixSocket socket;
    private final String peer;
    private final NanoClock clock;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final SocketMessage message;
    private final ReentrantLock lock = new ReentrantLock();
    /** The frames held back, at the start of the buffer; written with the lock. */
    private volatile int heldBytes;
    private volatile boolean stopped;
    private volatile long sendingSinceNs;
    // Of the reading thread.
    private int answersPerSend = 1;
    private boolean answersHeld;

    FrameWriter(UnixSocket socket, String peer, NanoClock clock) {
        this.socket = socket;
        this.peer = peer;
        this.clock = clock;
        this.message = new SocketMessage(socket, bytes);
    }

    /** Begins to send: waits until no other thread does. */
    void lock() {
        lock.lock();
    }

    /** Ends sending. */
    void unlock() {
        lock.unlock();
    }

    /**
     * Sends a PDU without data. With the lock.
     *
     * @param moreToAnswer the calling thread has another frame to answer, so that this answer may go out with its answer
     */
    void answer(Pdu pdu, boolean moreToAnswer) throws IOException {
        hold(pdu, Frame.NO_TAG, 0);
        if (!moreToAnswer || heldBytes >= answersPerSend * Frame.BYTES) {
            sendHeld();
        } else {
            answersHeld = true;
        }
    }

    /** Sends a command. With the lock. If {@code more} commands follow, it may go out with them. */
    void command(Pdu pdu, int tag, long offset, boolean more) throws IOException {
        hold(pdu, tag, offset);
        if (!more || heldBytes >= MAX_HELD_COMMANDS * Frame.BYTES) {
            sendHeld();
        }
    }

    private void hold(Pdu pdu, int tag, long offset) {
        int at = heldBytes;
        begin(at, Frame.PDU, tag, offset).put(at + Frame.BODY, pdu.header(), 0, Pdu.BHS_BYTES);
        heldBytes = at + Frame.BYTES;
    }

    /** Sends the frames held back. Without the lock. */
    void flush() throws IOException {
        if (heldBytes == 0) {
            return;
        }
        lock();
        try {
            sendHeld();
        } finally {
            unlock();
        }
    }

    /** Sends the answers that the reading thread holds back. Called by that thread, without the lock. */
    void flushAnswers() throws IOException {
        if (answersHeld) {
            answersHeld = false;
            flush();
        }
    }

    /** The reading thread received this much in one call: the peer keeps sending while answers are held back. */
    void received(int receivedBytes) {
        if (receivedBytes >= answersPerSend * Frame.BYTES) {
            answersPerSend = Math.min(answersPerSend + 1, MAX_HELD_ANSWERS);
        }
    }

    /** The reading thread must wait for its peer: the peer may have waited for an answer that was held back. */
    void waitsForPeer() {
        answersPerSend = Math.max(answersPerSend / 2, 1);
    }

    private void sendHeld() throws IOException {
        int held = heldBytes;
        heldBytes = 0;
        if (held > 0) {
            send(held, -1);
        }
    }

    /** Sends a PDU, with {@code data} from its position to its limit unless that is null. With the lock. */
    void send(Pdu pdu, ByteBuffer data, int tag, long offset) throws IOException {
        int dataBytes = data == null ? 0 : data.remaining();
        if (dataBytes > TextParameters.MAX_TEXT_BYTES) {
            throw new IllegalArgumentException(
                "data of " + dataBytes + " bytes, the limit is " + TextParameters.MAX_TEXT_BYTES);
        }
        begin(Frame.PDU, tag, offset).put(Frame.BODY, pdu.header(), 0, Pdu.BHS_BYTES);
        if (dataBytes > 0) {
            bytes.put(Frame.BYTES, data, data.position(), dataBytes);
            data.position(data.limit());
        }
        send(Frame.BYTES + dataBytes, -1);
    }

    /** Sends a frame that is no PDU, and a descriptor with it unless that is negative. With the lock. */
    void send(byte kind, int tag, int descriptor) throws IOException {
        begin(kind, tag, 0);
        send(Frame.BYTES, descriptor);
    }

    /** Sends the reason why this side ends the connection. With the lock. */
    void refuse(byte[] reason) throws IOException {
        begin(Frame.REFUSE, Frame.NO_TAG, 0)
            .putInt(Frame.BODY + Integer.BYTES, reason.length)
            .put(Frame.BYTES, reason, 0, reason.length);
        send(Frame.BYTES + reason.length, -1);
    }

    /** Begins a frame that is sent alone, after those held back. */
    private ByteBuffer begin(byte kind, int tag, long offset) throws IOException {
        sendHeld();
        return begin(0, kind, tag, offset);
    }

    private ByteBuffer begin(int at, byte kind, int tag, long offset) {
        for (int i = Frame.BODY; i < Frame.BYTES; i += Long.BYTES) {
            bytes.putLong(at + i, 0);
        }
        return bytes.putInt(at + Frame.KIND, 0).put(at + Frame.KIND, kind)
            .put(at + Frame.VERSION_FIELD, Frame.VERSION).putInt(at + Frame.TAG, tag)
            .putLong(at + Frame.OFFSET, offset);
    }

    private void send(int sendBytes, int descriptor) throws IOException {
        if (!socket.enter()) {
            throw new ClosedChannelException();
        }
        try {
            sendingSinceNs = clock.nanoTime();
            int sent = 0;
            while (sent < sendBytes) {
                if (stopped) {
                    throw new ClosedChannelException();
                }
                long count = message.send(sent, sendBytes, sent == 0 ? descriptor : -1);
                if (count > 0) {
                    sent += (int) count;
                } else if (Errno.EAGAIN.is(count)) {
                    // Stopping wakes nobody: the peer must not see the end of the stream yet.
                    message.awaitWritable(FrameReader.POLL_STEP_MS);
                } else if (Errno.EPIPE.is(count) || Errno.ECONNRESET.is(count)) {
                    throw new EOFException(peer + " is gone");
                } else if (!Errno.EINTR.is(count)) {
                    throw new IOException("sending to " + peer + ": " + Errno.text(-count));
                }
            }
        } finally {
            sendingSinceNs = 0;
            socket.leave();
        }
    }

    /** Ends every call in progress and every later one. Any thread. */
    void stop() {
        stopped = true;
    }

    /** When the thread began that is sending; 0 if none is. */
    long sendingSinceNs() {
        return sendingSinceNs;
    }
}
