package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.SocketMessage;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;

/**
 * Sends frames. One system call can send several responses or several commands, because waking the peer costs more than sending
 * a frame. The number of responses per system call adapts. This number grows while requests arrive in batches, and is halved
 * when the reading thread must wait.
 *
 * <p>Thread-safe. No objects are allocated after construction.
 */
final class FrameWriter {
    private static final int BUFFER_BYTES = Frame.BYTES + TextParameters.MAX_TEXT_BYTES;
    /**
     * The maximum number of responses that are held back. An initiator under load has about twice as many commands in flight.
     */
    private static final int MAX_HELD_ANSWERS = 16;
    /**
     * The maximum number of commands that are held back. The target can start with a few commands while the initiator prepares
     * more.
     */
    private static final int MAX_HELD_COMMANDS = 8;

    private final UnixSocket socket;
    private final String peer;
    private final NanoClock clock;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final SocketMessage message;
    private final ScopedLock lock = new ScopedLock();
    /**
     * The total length of the frames that are held back. These frames are at the start of the buffer. A thread that
     * changes this field must hold {@code lock}.
     */
    private volatile int heldBytes;
    private volatile boolean stopped;
    private volatile long sendingSinceNs;
    // Only the reading thread uses the following two fields.
    private int answersPerSend = 1;
    private boolean answersHeld;

    FrameWriter(UnixSocket socket, String peer, NanoClock clock) {
        this.socket = socket;
        this.peer = peer;
        this.clock = clock;
        this.message = new SocketMessage(socket, bytes);
    }

    /** Acquires the lock that a thread must hold to send. The caller closes the result to release the lock. */
    Held lock() {
        return lock.hold();
    }

    /**
     * Sends a response without data. The caller holds {@code lock}.
     *
     * @param moreToAnswer whether the calling thread has received another request. If true, this method can hold back the
     *     response, to send it together with the response to that request
     */
    void answer(Pdu pdu, boolean moreToAnswer) throws IOException {
        hold(pdu, Frame.NO_TAG, 0);
        if (!moreToAnswer || heldBytes >= answersPerSend * Frame.BYTES) {
            sendHeld();
        } else {
            answersHeld = true;
        }
    }

    /**
     * Sends a command. If {@code more} is true, this method can hold back the command, to send it together with the next command.
     * The caller holds {@code lock}.
     */
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

    /** Sends the frames that are held back. Acquires {@code lock}. */
    void flush() throws IOException {
        if (heldBytes == 0) {
            return;
        }
        try (Held _ = lock()) {
            sendHeld();
        }
    }

    /**
     * Sends the responses that the reading thread holds back. Only the reading thread calls this method. Acquires {@code lock}.
     */
    void flushAnswers() throws IOException {
        if (answersHeld) {
            answersHeld = false;
            flush();
        }
    }

    /**
     * Increases the number of responses per system call by one, if one system call of the reading thread received at least that
     * number of frames. A peer that sends so many frames at once does not wait for each response.
     *
     * @param receivedBytes the number of bytes that one system call has received
     */
    void received(int receivedBytes) {
        if (receivedBytes >= answersPerSend * Frame.BYTES) {
            answersPerSend = Math.min(answersPerSend + 1, MAX_HELD_ANSWERS);
        }
    }

    /**
     * Halves the number of responses per system call. The reading thread calls this method when it must wait for the peer. The
     * reason for the wait could be that the peer waited for a response that was held back.
     */
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

    /**
     * Sends a PDU. If {@code data} is not null, its bytes from position to limit are the data segment. The caller holds
     * {@code lock}.
     */
    void send(Pdu pdu, ByteBuffer data, int tag, long offset) throws IOException {
        int dataBytes = data == null ? 0 : data.remaining();
        if (dataBytes > TextParameters.MAX_TEXT_BYTES) {
            throw new IllegalArgumentException(
                "the data segment has " + dataBytes + " bytes, but the limit is " + TextParameters.MAX_TEXT_BYTES);
        }
        begin(Frame.PDU, tag, offset).put(Frame.BODY, pdu.header(), 0, Pdu.BHS_BYTES);
        if (dataBytes > 0) {
            bytes.put(Frame.BYTES, data, data.position(), dataBytes);
            data.position(data.limit());
        }
        send(Frame.BYTES + dataBytes, -1);
    }

    /**
     * Sends a frame that is not a PDU. If {@code descriptor} is not negative, the file descriptor is sent with the frame. The
     * caller holds {@code lock}.
     */
    void send(byte kind, int tag, long offset, int descriptor) throws IOException {
        begin(kind, tag, offset);
        send(Frame.BYTES, descriptor);
    }

    /** Sends the reason why the target closes the connection. The caller holds {@code lock}. */
    void refuse(byte[] reason) throws IOException {
        begin(Frame.REFUSE, Frame.NO_TAG, 0)
            .putInt(Frame.BODY + Integer.BYTES, reason.length)
            .put(Frame.BYTES, reason, 0, reason.length);
        send(Frame.BYTES + reason.length, -1);
    }

    /** Sends the frames that are held back, and begins a frame that is sent alone. */
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
                    // The wait is short, because stop() keeps the stream open for sending and therefore cannot wake this thread.
                    message.awaitWritable(FrameReader.POLL_STEP_MS);
                } else if (Errno.EPIPE.is(count) || Errno.ECONNRESET.is(count)) {
                    throw new EOFException(peer + " closed the connection");
                } else if (!Errno.EINTR.is(count)) {
                    throw new IOException("cannot send to " + peer + ": " + Errno.text(-count));
                }
            }
        } finally {
            sendingSinceNs = 0;
            socket.leave();
        }
    }

    /** Makes all calls fail, including calls in progress. Any thread may call this method. */
    void stop() {
        stopped = true;
    }

    /** The time when the current send began, or 0 if no thread is sending. */
    long sendingSinceNs() {
        return sendingSinceNs;
    }
}
