package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Sends or receives the bytes of one buffer over a Unix socket, together with file descriptors (SCM_RIGHTS, unix(7)). Methods
 * must be called only between {@link UnixSocket#enter} and {@link UnixSocket#leave}.
 *
 * <p>Only one thread at a time is allowed to use an object. Only the constructor allocates memory.
 */
public final class SocketMessage {
    /** The maximum number of descriptors in one message. */
    public static final int MAX_DESCRIPTORS = 4;

    private static final CLibrary.Function SENDMSG = CLibrary.function("sendmsg");
    private static final CLibrary.Function RECVMSG = CLibrary.function("recvmsg");
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_CTRUNC = 0x8;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    // The layout of struct msghdr, struct iovec and struct cmsghdr, which is the same on every 64-bit Linux.
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

    // This field keeps the buffer reachable, because the native structures below point to its memory.
    private final ByteBuffer bytes;
    private final int socket;
    private final long address;
    private final MemorySegment callState;
    private final MemorySegment message;
    private final MemorySegment vector;
    private final MemorySegment control;
    private final MemorySegment poll;

    /**
     * Allocates the native structures.
     *
     * @param bytes a direct buffer, whose position and limit are ignored
     */
    public SocketMessage(UnixSocket socket, ByteBuffer bytes) {
        this.bytes = bytes;
        this.socket = socket.descriptor();
        this.address = MemorySegment.ofBuffer(bytes.duplicate().clear()).address();
        Arena arena = Arena.ofAuto();
        callState = CLibrary.newCallState(arena);
        message = arena.allocate(MESSAGE_BYTES, Long.BYTES);
        vector = arena.allocate(VECTOR_BYTES, Long.BYTES);
        control = arena.allocate(CONTROL_BYTES, Long.BYTES);
        poll = arena.allocate(UnixSocket.POLL_BYTES, Integer.BYTES);
        message.set(JAVA_LONG, MESSAGE_VECTOR, vector.address());
        message.set(JAVA_LONG, MESSAGE_VECTOR_COUNT, 1);
        poll.set(JAVA_INT, 0, this.socket);
    }

    /**
     * Receives bytes into the buffer, from offset {@code from} up to offset {@code to}. Returns the number of received bytes, 0
     * at the end of the stream, or minus the error number.
     */
    public long receive(int from, int to) {
        range(from, to);
        control(CONTROL_BYTES);
        return RECVMSG.call(callState, socket, message.address(), MSG_CMSG_CLOEXEC);
    }

    /** Returns the number of descriptors of the last successful {@link #receive}. The caller closes the descriptors. */
    public int descriptorCount() {
        boolean rights = message.get(JAVA_LONG, MESSAGE_CONTROL_BYTES) >= CONTROL_DATA
            && control.get(JAVA_INT, CONTROL_LEVEL) == UnixSocket.SOL_SOCKET
            && control.get(JAVA_INT, CONTROL_TYPE) == SCM_RIGHTS;
        return rights ? (int) (control.get(JAVA_LONG, 0) - CONTROL_DATA) / Integer.BYTES : 0;
    }

    /** Returns a descriptor that came with the last successful {@link #receive}. */
    public int descriptor(int index) {
        return control.get(JAVA_INT, CONTROL_DATA + (long) index * Integer.BYTES);
    }

    /**
     * Returns whether the received message had more than {@value #MAX_DESCRIPTORS} descriptors. The kernel has closed the excess
     * descriptors.
     */
    public boolean descriptorsLost() {
        return (message.get(JAVA_INT, MESSAGE_FLAGS) & MSG_CTRUNC) != 0;
    }

    /**
     * Sends the bytes of the buffer from offset {@code from} up to offset {@code to}.
     *
     * @param descriptor a descriptor that is sent with the first byte and stays open in this process; negative for none
     * @return the number of bytes that were sent, or minus the error number
     */
    public long send(int from, int to, int descriptor) {
        range(from, to);
        if (descriptor < 0) {
            control(0);
        } else {
            control.set(JAVA_LONG, 0, CONTROL_DATA + Integer.BYTES);
            control.set(JAVA_INT, CONTROL_LEVEL, UnixSocket.SOL_SOCKET);
            control.set(JAVA_INT, CONTROL_TYPE, SCM_RIGHTS);
            control.set(JAVA_INT, CONTROL_DATA, descriptor);
            control(CONTROL_DATA + Long.BYTES);
        }
        return SENDMSG.call(callState, socket, message.address(), MSG_NOSIGNAL);
    }

    /** Waits until data can be received, or the timeout has passed. */
    public void awaitReadable(int timeoutMs) throws IOException {
        await(UnixSocket.POLLIN, timeoutMs);
    }

    /** Waits until data can be sent, or the timeout has passed. */
    public void awaitWritable(int timeoutMs) throws IOException {
        await(UnixSocket.POLLOUT, timeoutMs);
    }

    private void await(short events, int timeoutMs) throws IOException {
        long ready = UnixSocket.poll(callState, poll, events, timeoutMs);
        if (!Errno.EINTR.is(ready)) {
            Errno.check("cannot wait for the Unix socket", ready);
        }
    }

    private void range(int from, int to) {
        vector.set(JAVA_LONG, 0, address + from);
        vector.set(JAVA_LONG, VECTOR_LENGTH, to - from);
    }

    private void control(int controlBytes) {
        message.set(JAVA_LONG, MESSAGE_CONTROL, controlBytes == 0 ? 0 : control.address());
        message.set(JAVA_LONG, MESSAGE_CONTROL_BYTES, controlBytes);
    }
}
