package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.SocketMessage;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;

/**
 * Receives frames and the file descriptors that are sent with them. One system call can receive several frames.
 *
 * <p>Only one thread may use a reader, but any thread may call {@link #stop}, {@link #stopBy} and the methods that return
 * times. No objects are allocated after construction.
 */
final class FrameReader {
    /** The maximum delay until a waiting thread notices {@link #stopBy}, which does not wake threads. */
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
    /** The time at which receiving stops, or 0 if no such time is set. */
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

    /** Waits for the next frame and its data. The frame's fields and data are valid until the next call. */
    void next() throws IOException {
        thread = Thread.currentThread();
        frame = frameEnd;
        fill(Frame.BYTES);
        int dataBytes = kind() == Frame.PDU || kind() == Frame.REFUSE
            ? bytes.getInt(frame + Frame.BODY + Integer.BYTES)
            : 0;
        // The highest byte of dataBytes is TotalAHSLength. If this byte is not 0, dataBytes is negative or above the maximum.
        if (dataBytes < 0 || dataBytes > TextParameters.MAX_TEXT_BYTES) {
            throw new ProtocolException(
                PlainText.format(
                    "%s sent a PDU with %08Xh as TotalAHSLength and DataSegmentLength; the maximum is %08Xh", peer,
                    dataBytes, TextParameters.MAX_TEXT_BYTES));
        }
        fill(Frame.BYTES + dataBytes);
        frameEnd = frame + Frame.BYTES + dataBytes;
        receivingSinceNs = 0;
    }

    /** Returns whether the caller is the reading thread and the buffer contains the next frame (not necessarily its data). */
    boolean hasNext() {
        return thread == Thread.currentThread() && filled - frameEnd >= Frame.BYTES;
    }

    /** Receives until the buffer contains {@code wantedBytes} bytes of the frame. */
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
        // The peer might be waiting for a response that is held back.
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
                    throw new IOException("cannot receive from " + peer + ": " + Errno.text(-count));
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
            throw new ProtocolException(peer + " sent more file descriptors than its frames use");
        }
    }

    /** Removes and returns the oldest descriptor that no frame has used, or -1. The caller must close the descriptor. */
    int takeDescriptor() {
        if (descriptorCount == 0) {
            return -1;
        }
        int taken = descriptors[0];
        System.arraycopy(descriptors, 1, descriptors, 0, --descriptorCount);
        return taken;
    }

    /** Closes the descriptors that no frame has used. Other threads may call this only after the reading thread has stopped. */
    void closeDescriptors() {
        for (int descriptor = takeDescriptor(); descriptor >= 0; descriptor = takeDescriptor()) {
            Descriptors.close(descriptor);
        }
    }

    /** The kind of the frame. */
    int kind() {
        return bytes.get(frame + Frame.KIND);
    }

    /** The version in a HELLO frame. */
    int version() {
        return bytes.get(frame + Frame.VERSION_FIELD);
    }

    /** The frame's steering tag. */
    int tag() {
        return bytes.getInt(frame + Frame.TAG);
    }

    /** The offset in the memory that the frame's steering tag identifies. */
    long offset() {
        return bytes.getLong(frame + Frame.OFFSET);
    }

    /** Copies the frame's Basic Header Segment to {@code to}. */
    void header(ByteBuffer to) {
        to.put(0, bytes, frame + Frame.BODY, Pdu.BHS_BYTES);
    }

    /** Returns the frame's data, which is between the buffer's position and limit. */
    ByteBuffer data() {
        return dataView.limit(frameEnd).position(frame + Frame.BYTES);
    }

    /** Makes all calls fail, including calls in progress. To wake the reading thread, the caller must shut down the socket. */
    void stop() {
        stopped = true;
    }

    /** Makes calls fail after {@code withinNs}, with a delay of up to {@link #POLL_STEP_MS}. */
    void stopBy(long withinNs) {
        stopAtNs = clock.nanoTime() + withinNs | 1;
    }

    /** The time when the reader began to receive the current frame, or 0 between frames. */
    long receivingSinceNs() {
        return receivingSinceNs;
    }

    /** The time when bytes were last received. */
    long lastReceivedNs() {
        return lastReceivedNs;
    }
}
