package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.SocketMessage;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;

/**
 * Receives frames and the descriptors that come with them. One call of the kernel brings as many frames as are there.
 *
 * <p>For one thread, except {@link #stop}, {@link #stopBy} and the times. Nothing is allocated after the start.
 */
final class FrameReader {
    /** The longest time until a wait notices {@link #stopBy}, which wakes nobody. */
    static final int POLL_STEP_MS = 200;

    private static final int BUFFER_BYTES = Frame.BYTES + TextParameters.MAX_TEXT_BYTES;

    private final UnixSocket socket;
    private final String peer;
    private final FrameWriter writer;
    private final NanoClock clock;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer dataView = bytes.duplicate();
    private final SocketMessage message;
    private final int[] descriptors = new int[SocketMessage.MAX_DESCRIPTORS];
    private int descriptorCount;
    private int frame;
    private int frameEnd;
    private int filled;
    private volatile Thread thread;
    private volatile boolean stopped;
    /** When receiving ends, as a time of the clock; 0 without such a time. */
    private volatile long stopAtNs;
    private volatile long receivingSinceNs;
    private volatile long lastReceivedNs;

    FrameReader(UnixSocket socket, String peer, FrameWriter writer, NanoClock clock) {
        this.socket = socket;
        this.peer = peer;
        this.writer = writer;
        this.clock = clock;
        this.message = new SocketMessage(socket, bytes);
        this.lastReceivedNs = clock.nanoTime();
    }

    /** Waits for the next frame and its data. Its fields and data are valid until the next call. */
    void next() throws IOException {
        thread = Thread.currentThread();
        frame = frameEnd;
        fill(Frame.BYTES);
        int dataBytes = kind() == Frame.PDU || kind() == Frame.REFUSE
            ? bytes.getInt(frame + Frame.BODY + Integer.BYTES)
            : 0;
        // The first byte is TotalAHSLength, which is 0 over shared memory: with it, the length would be above the limit.
        if (dataBytes < 0 || dataBytes > TextParameters.MAX_TEXT_BYTES) {
            throw new ProtocolException("a data segment or additional headers of %08Xh bytes, the limit is %08Xh"
                .formatted(dataBytes, TextParameters.MAX_TEXT_BYTES));
        }
        fill(Frame.BYTES + dataBytes);
        frameEnd = frame + Frame.BYTES + dataBytes;
        receivingSinceNs = 0;
    }

    /** Whether the calling thread is the reading one, and the next frame is already in the buffer. */
    boolean hasNext() {
        return thread == Thread.currentThread() && filled - frameEnd >= Frame.BYTES;
    }

    /** Receives until this much of the frame is in the buffer. */
    private void fill(int wantedBytes) throws IOException {
        if (filled - frame >= wantedBytes) {
            return;
        }
        if (frame > 0) {
            bytes.put(0, bytes, frame, filled - frame);
            filled -= frame;
            frame = 0;
        }
        while (filled < wantedBytes) {
            if (filled > 0 && receivingSinceNs == 0) {
                receivingSinceNs = clock.nanoTime();
            }
            filled += receive();
        }
    }

    private int receive() throws IOException {
        // The peer may be waiting for an answer that is held back.
        writer.flushAnswers();
        if (!socket.enter()) {
            throw new ClosedChannelException();
        }
        try {
            while (!isStopped()) {
                long count = message.receive(filled, BUFFER_BYTES);
                if (count > 0) {
                    takeDescriptors();
                    lastReceivedNs = clock.nanoTime();
                    writer.received((int) count);
                    return (int) count;
                }
                if (count == 0 || Errno.ECONNRESET.is(count)) {
                    throw new EOFException(peer + " closed the connection");
                }
                if (Errno.EAGAIN.is(count)) {
                    writer.waitsForPeer();
                    message.awaitReadable(POLL_STEP_MS);
                } else if (!Errno.EINTR.is(count)) {
                    throw new IOException("receiving from " + peer + ": " + Errno.text(-count));
                }
            }
            throw new ClosedChannelException();
        } finally {
            socket.leave();
        }
    }

    private boolean isStopped() {
        long atNs = stopAtNs;
        return stopped || atNs != 0 && clock.nanoTime() - atNs > 0;
    }

    private void takeDescriptors() throws ProtocolException {
        boolean tooMany = message.descriptorsLost();
        int count = message.descriptorCount();
        for (int i = 0; i < count; i++) {
            if (descriptorCount < descriptors.length) {
                descriptors[descriptorCount++] = message.descriptor(i);
            } else {
                Descriptors.close(message.descriptor(i));
                tooMany = true;
            }
        }
        if (tooMany) {
            throw new ProtocolException(peer + " sends descriptors without frames that use them");
        }
    }

    /** The oldest descriptor that no frame has used, now the caller's; -1 if there is none. */
    int takeDescriptor() {
        if (descriptorCount == 0) {
            return -1;
        }
        int taken = descriptors[0];
        System.arraycopy(descriptors, 1, descriptors, 0, --descriptorCount);
        return taken;
    }

    /** Closes the descriptors that no frame has used. For the reading thread, or after it has ended. */
    void closeDescriptors() {
        for (int descriptor = takeDescriptor(); descriptor >= 0; descriptor = takeDescriptor()) {
            Descriptors.close(descriptor);
        }
    }

    /** The frame's kind. */
    int kind() {
        return bytes.get(frame + Frame.KIND);
    }

    /** The version in a HELLO. */
    int version() {
        return bytes.get(frame + Frame.VERSION_FIELD);
    }

    /** The frame's steering tag. */
    int tag() {
        return bytes.getInt(frame + Frame.TAG);
    }

    /** The frame's offset in the memory of its steering tag. */
    long offset() {
        return bytes.getLong(frame + Frame.OFFSET);
    }

    /** Copies the frame's Basic Header Segment. */
    void header(ByteBuffer to) {
        to.put(0, bytes, frame + Frame.BODY, Pdu.BHS_BYTES);
    }

    /** The frame's data, from position to limit. */
    ByteBuffer data() {
        return dataView.limit(frameEnd).position(frame + Frame.BYTES);
    }

    /** Ends every call in progress and every later one. The caller wakes the reading thread by a shutdown of the socket. */
    void stop() {
        stopped = true;
    }

    /** Ends calls once this time has passed; notices it within {@link #POLL_STEP_MS}. */
    void stopBy(long withinNs) {
        stopAtNs = clock.nanoTime() + withinNs | 1;
    }

    /** When the frame began that is being received; 0 between frames. */
    long receivingSinceNs() {
        return receivingSinceNs;
    }

    /** When bytes last came. */
    long lastReceivedNs() {
        return lastReceivedNs;
    }
}
