package io.modeldisk.protocol.datamover.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Frames over a socket, with the descriptors that come along. Reads as many as are there in one call, and waits in steps, so
 * that a wait ends when {@link #stop} or {@link #finish} says so.
 *
 * <p>Reading is for one thread. Sending is thread-safe. Nothing is allocated after the start.
 */
final class FrameStream {
    private static final int BUFFER_BYTES = Frame.BYTES + TextParameters.MAX_TEXT_BYTES;
    private static final int WAIT_MILLIS = 200;
    private static final int MAX_DESCRIPTORS = 4;
    /** How many answers are held back at most: half of what a peer with a deep queue waits for. */
    private static final int MOST_ANSWERS = 16;
    /** How many commands are held back at most: the peer shall have something to do. */
    private static final int MOST_COMMANDS = 8;

    // struct msghdr, struct iovec, struct cmsghdr and struct pollfd, as every 64-bit Linux has them.
    private static final int MESSAGE_BYTES = 56;
    private static final int MESSAGE_VECTOR = 16;
    private static final int MESSAGE_VECTOR_COUNT = 24;
    private static final int MESSAGE_CONTROL = 32;
    private static final int MESSAGE_CONTROL_BYTES = 40;
    private static final int MESSAGE_FLAGS = 48;
    private static final int VECTOR_BYTES = 16;
    private static final int VECTOR_LENGTH = 8;
    private static final int CONTROL_DATA = 16;
    private static final int CONTROL_LEVEL = 8;
    private static final int CONTROL_TYPE = 12;
    private static final int CONTROL_BYTES = CONTROL_DATA + MAX_DESCRIPTORS * Integer.BYTES;
    private static final int POLL_BYTES = 8;
    private static final int POLL_EVENTS = 4;

    private final UnixSocket socket;
    private final String peer;
    private final Arena arena = Arena.ofAuto();
    private final Side receiving;
    private final Side sending;
    private final ReentrantLock sendLock = new ReentrantLock();
    private final int[] descriptors = new int[MAX_DESCRIPTORS];
    private int descriptorCount;
    private int frame;
    private int frameEnd;
    private int filled;
    /** How many answers are held back now: fewer when this side had to wait for its peer, more as long as it has not. */
    private int mostAnswers = 1;
    /** Whether the reading thread has held answers back. */
    private boolean answersHeld;
    private volatile Thread reader;
    /** What is held back, at the start of what is sent; changed with the lock. */
    private volatile int heldBytes;
    private volatile boolean sendingEnded;
    private volatile boolean receivingEnded;
    /** When receiving ends at the latest, as {@link System#nanoTime()}; 0 if that is not known. */
    private volatile long receiveUntilNanos;
    private volatile long receivingSinceNanos;
    private volatile long lastReceivedNanos = System.nanoTime();
    private volatile long sendingSinceNanos;

    /** What one direction needs: its bytes, and the structures that point to them, all built once. */
    private final class Side {
        private final ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER_BYTES);
        private final ByteBuffer view = bytes.duplicate();
        private final long address = MemorySegment.ofBuffer(bytes).address();
        private final MemorySegment state = arena.allocate(SocketCalls.STATE);
        private final MemorySegment message = arena.allocate(MESSAGE_BYTES, Long.BYTES);
        private final MemorySegment vector = arena.allocate(VECTOR_BYTES, Long.BYTES);
        private final MemorySegment control = arena.allocate(CONTROL_BYTES, Long.BYTES);
        private final MemorySegment poll = arena.allocate(POLL_BYTES, Integer.BYTES);

        Side(short events) {
            message.set(JAVA_LONG, MESSAGE_VECTOR, vector.address());
            message.set(JAVA_LONG, MESSAGE_VECTOR_COUNT, 1);
            poll.set(JAVA_INT, 0, socket.descriptor());
            poll.set(JAVA_SHORT, POLL_EVENTS, events);
        }

        void range(int from, int to) {
            vector.set(JAVA_LONG, 0, address + from);
            vector.set(JAVA_LONG, VECTOR_LENGTH, to - from);
        }

        void control(int controlBytes) {
            message.set(JAVA_LONG, MESSAGE_CONTROL, controlBytes == 0 ? 0 : control.address());
            message.set(JAVA_LONG, MESSAGE_CONTROL_BYTES, controlBytes);
        }

        /** Waits a while until the socket is ready. */
        void await() throws IOException {
            int ready = SocketCalls.poll(state, poll.address(), 1, WAIT_MILLIS);
            if (ready < 0 && ready != -SocketCalls.EINTR) {
                throw new IOException("poll: " + SocketCalls.text(-ready));
            }
        }
    }

    /** Takes over a connected socket. */
    FrameStream(UnixSocket socket, String peer) {
        this.socket = socket;
        this.peer = peer;
        this.receiving = new Side(SocketCalls.POLLIN);
        this.sending = new Side(SocketCalls.POLLOUT);
    }

    /** Waits for the next frame, with its data; its fields and data are there until the next call. */
    void next() throws IOException {
        reader = Thread.currentThread();
        frame = frameEnd;
        fill(Frame.BYTES);
        int dataBytes = kind() == Frame.PDU || kind() == Frame.REFUSE
            ? receiving.bytes.getInt(frame + Frame.BODY + Integer.BYTES)
            : 0;
        // The first byte is the length of additional headers, which there never are here.
        if (dataBytes < 0 || dataBytes > TextParameters.MAX_TEXT_BYTES) {
            throw new ProtocolException("a data segment or additional headers of %08Xh bytes, the limit is %08Xh"
                .formatted(dataBytes, TextParameters.MAX_TEXT_BYTES));
        }
        fill(Frame.BYTES + dataBytes);
        frameEnd = frame + Frame.BYTES + dataBytes;
        receivingSinceNanos = 0;
    }

    /** Whether the calling thread is the one that reads, and another frame was read with this one. */
    private boolean goesOn() {
        return reader == Thread.currentThread() && filled - frameEnd >= Frame.BYTES;
    }

    /** Reads until that many bytes of the frame are there. */
    private void fill(int wanted) throws IOException {
        if (filled - frame >= wanted) {
            return;
        }
        if (frame > 0) {
            receiving.bytes.put(0, receiving.bytes, frame, filled - frame);
            filled -= frame;
            frame = 0;
        }
        while (filled < wanted) {
            if (filled > 0 && receivingSinceNanos == 0) {
                receivingSinceNanos = System.nanoTime();
            }
            filled += receive();
        }
    }

    private int receive() throws IOException {
        // Before this waits for the peer, the peer gets what it may be waiting for.
        if (answersHeld) {
            answersHeld = false;
            flush();
        }
        receiving.range(filled, BUFFER_BYTES);
        if (!socket.enter()) {
            throw new ClosedChannelException();
        }
        try {
            while (!isOver()) {
                receiving.control(CONTROL_BYTES);
                long count = SocketCalls.recvmsg(receiving.state, socket.descriptor(), receiving.message.address(),
                    SocketCalls.MSG_CMSG_CLOEXEC);
                if (count > 0) {
                    takeDescriptors();
                    lastReceivedNanos = System.nanoTime();
                    if (count >= mostAnswers * Frame.BYTES) {
                        mostAnswers = Math.min(mostAnswers + 1, MOST_ANSWERS);
                    }
                    return (int) count;
                }
                if (count == 0 || count == -SocketCalls.ECONNRESET) {
                    throw new EOFException(peer + " closed the connection");
                }
                if (count == -SocketCalls.EAGAIN) {
                    mostAnswers = Math.max(mostAnswers / 2, 1);
                    receiving.await();
                } else if (count != -SocketCalls.EINTR) {
                    throw new IOException("receiving from " + peer + ": " + SocketCalls.text(-count));
                }
            }
            throw new ClosedChannelException();
        } finally {
            socket.leave();
        }
    }

    private boolean isOver() {
        long until = receiveUntilNanos;
        return receivingEnded || until != 0 && System.nanoTime() - until > 0;
    }

    private void takeDescriptors() throws ProtocolException {
        boolean tooMany = (receiving.message.get(JAVA_INT, MESSAGE_FLAGS) & SocketCalls.MSG_CTRUNC) != 0;
        if (receiving.message.get(JAVA_LONG, MESSAGE_CONTROL_BYTES) >= CONTROL_DATA
            && receiving.control.get(JAVA_INT, CONTROL_LEVEL) == SocketCalls.SOL_SOCKET
            && receiving.control.get(JAVA_INT, CONTROL_TYPE) == SocketCalls.SCM_RIGHTS) {
            int count = (int) (receiving.control.get(JAVA_LONG, 0) - CONTROL_DATA) / Integer.BYTES;
            for (int i = 0; i < count; i++) {
                int descriptor = receiving.control.get(JAVA_INT, CONTROL_DATA + (long) i * Integer.BYTES);
                if (descriptorCount < MAX_DESCRIPTORS) {
                    descriptors[descriptorCount++] = descriptor;
                } else {
                    SocketCalls.close(descriptor);
                    tooMany = true;
                }
            }
        }
        if (tooMany) {
            throw new ProtocolException(peer + " sends descriptors that belong to nothing");
        }
    }

    /** The oldest descriptor that has come, now the caller's; -1 if none has. */
    int takeDescriptor() {
        if (descriptorCount == 0) {
            return -1;
        }
        int taken = descriptors[0];
        System.arraycopy(descriptors, 1, descriptors, 0, --descriptorCount);
        return taken;
    }

    /** The frame's kind. */
    int kind() {
        return receiving.bytes.get(frame + Frame.KIND);
    }

    /** The frame's version, which a HELLO has. */
    int version() {
        return receiving.bytes.get(frame + Frame.VERSION_FIELD);
    }

    /** The frame's steering tag. */
    int tag() {
        return receiving.bytes.getInt(frame + Frame.TAG);
    }

    /** The frame's offset in the memory of its steering tag. */
    long offset() {
        return receiving.bytes.getLong(frame + Frame.OFFSET);
    }

    /** Copies the frame's Basic Header Segment. */
    void header(ByteBuffer to) {
        to.put(0, receiving.bytes, frame + Frame.BODY, Pdu.BHS_BYTES);
    }

    /** The frame's data, from position to limit. */
    ByteBuffer data() {
        return receiving.view.limit(frameEnd).position(frame + Frame.BYTES);
    }

    /** Begins to send: waits until no other thread does. */
    void lock() {
        sendLock.lock();
    }

    /** Ends sending. */
    void unlock() {
        sendLock.unlock();
    }

    /**
     * Sends a PDU without data; if the calling thread has the next frame at hand, only with what follows, since to wake a peer
     * costs more than to answer it. With the lock.
     */
    void answer(Pdu pdu) throws IOException {
        hold(pdu, Frame.NO_TAG, 0);
        if (!goesOn() || heldBytes >= mostAnswers * Frame.BYTES) {
            sendHeld();
        } else {
            answersHeld = true;
        }
    }

    /**
     * Sends a command, perhaps only with those that follow if {@code more} do: they come as one message then, which costs the
     * peer less than many. With the lock.
     */
    void command(Pdu pdu, int tag, long offset, boolean more) throws IOException {
        hold(pdu, tag, offset);
        if (!more || heldBytes >= MOST_COMMANDS * Frame.BYTES) {
            sendHeld();
        }
    }

    private void hold(Pdu pdu, int tag, long offset) {
        int at = heldBytes;
        begin(at, Frame.PDU, tag, offset).put(at + Frame.BODY, pdu.header(), 0, Pdu.BHS_BYTES);
        heldBytes = at + Frame.BYTES;
    }

    /** Sends what was held back; without the lock. */
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

    private void sendHeld() throws IOException {
        int bytes = heldBytes;
        heldBytes = 0;
        if (bytes > 0) {
            send(bytes, -1);
        }
    }

    /** Sends a PDU, with {@code data} from its position to its limit unless that is null; with the lock. */
    void send(Pdu pdu, ByteBuffer data, int tag, long offset) throws IOException {
        int dataBytes = data == null ? 0 : data.remaining();
        if (dataBytes > TextParameters.MAX_TEXT_BYTES) {
            throw new IllegalArgumentException(
                "data of " + dataBytes + " bytes, the limit is " + TextParameters.MAX_TEXT_BYTES);
        }
        ByteBuffer out = begin(Frame.PDU, tag, offset);
        out.put(Frame.BODY, pdu.header(), 0, Pdu.BHS_BYTES);
        if (dataBytes > 0) {
            out.put(Frame.BYTES, data, data.position(), dataBytes);
            data.position(data.limit());
        }
        send(Frame.BYTES + dataBytes, -1);
    }

    /** Sends a frame that is no PDU, and a descriptor with it unless that is negative; with the lock. */
    void send(byte kind, int tag, int descriptor) throws IOException {
        begin(kind, tag, 0);
        send(Frame.BYTES, descriptor);
    }

    /** Sends the reason why this side does not go on; with the lock. */
    void refuse(byte[] reason) throws IOException {
        begin(Frame.REFUSE, Frame.NO_TAG, 0)
            .putInt(Frame.BODY + Integer.BYTES, reason.length)
            .put(Frame.BYTES, reason, 0, reason.length);
        send(Frame.BYTES + reason.length, -1);
    }

    /** Begins a frame of its own, behind what was held back. */
    private ByteBuffer begin(byte kind, int tag, long offset) throws IOException {
        sendHeld();
        return begin(0, kind, tag, offset);
    }

    private ByteBuffer begin(int at, byte kind, int tag, long offset) {
        ByteBuffer out = sending.bytes;
        for (int i = Frame.BODY; i < Frame.BYTES; i += Long.BYTES) {
            out.putLong(at + i, 0);
        }
        return out.putInt(at + Frame.KIND, 0).put(at + Frame.KIND, kind).put(at + Frame.VERSION_FIELD, Frame.VERSION)
            .putInt(at + Frame.TAG, tag).putLong(at + Frame.OFFSET, offset);
    }

    private void send(int bytes, int descriptor) throws IOException {
        if (!socket.enter()) {
            throw new ClosedChannelException();
        }
        try {
            sendingSinceNanos = System.nanoTime();
            sending.control(0);
            if (descriptor >= 0) {
                sending.control.set(JAVA_LONG, 0, CONTROL_DATA + Integer.BYTES);
                sending.control.set(JAVA_INT, CONTROL_LEVEL, SocketCalls.SOL_SOCKET);
                sending.control.set(JAVA_INT, CONTROL_TYPE, SocketCalls.SCM_RIGHTS);
                sending.control.set(JAVA_INT, CONTROL_DATA, descriptor);
                sending.control(CONTROL_DATA + Long.BYTES);
            }
            int sent = 0;
            while (sent < bytes) {
                if (sendingEnded) {
                    throw new ClosedChannelException();
                }
                sending.range(sent, bytes);
                long count = SocketCalls.sendmsg(sending.state, socket.descriptor(), sending.message.address(),
                    SocketCalls.MSG_NOSIGNAL);
                if (count > 0) {
                    sent += (int) count;
                    sending.control(0);
                } else if (count == -SocketCalls.EAGAIN) {
                    sending.await();
                } else if (count == -SocketCalls.EPIPE || count == -SocketCalls.ECONNRESET) {
                    throw new EOFException(peer + " is gone");
                } else if (count != -SocketCalls.EINTR) {
                    throw new IOException("sending to " + peer + ": " + SocketCalls.text(-count));
                }
            }
        } finally {
            sendingSinceNanos = 0;
            socket.leave();
        }
    }

    /**
     * Ends every call in progress, and all that follow; any thread. The other side does not see the end of the stream yet: that
     * is when the socket is closed.
     */
    void stop() {
        receivingEnded = true;
        sendingEnded = true;
        socket.shutdown(SocketCalls.SHUT_RD);
    }

    /** Ends sending, which the other side sees; receiving goes on until the other side ends, or for that long. Any thread. */
    void finish(long withinNanos) {
        receiveUntilNanos = System.nanoTime() + withinNanos | 1;
        sendingEnded = true;
        socket.shutdown(SocketCalls.SHUT_WR);
    }

    /** Keeps the socket open until {@link #release}, whoever closes it. */
    boolean hold() {
        return socket.enter();
    }

    /** Ends {@link #hold}. */
    void release() {
        socket.leave();
    }

    /** Closes the socket, as soon as no call is in progress; the other side sees the end. Any thread. */
    void close() {
        socket.close();
    }

    /** Closes the descriptors that have come for nothing. For the receiving thread, or when there is none any more. */
    void dropDescriptors() {
        for (int descriptor = takeDescriptor(); descriptor >= 0; descriptor = takeDescriptor()) {
            SocketCalls.close(descriptor);
        }
    }

    /** When the frame that is being read began, 0 between frames. */
    long receivingSinceNanos() {
        return receivingSinceNanos;
    }

    /** When anything last came. */
    long lastReceivedNanos() {
        return lastReceivedNanos;
    }

    /** When the thread that is sending began, 0 if none is. */
    long sendingSinceNanos() {
        return sendingSinceNanos;
    }

    /** The other side, for messages. */
    String peer() {
        return peer;
    }
}
