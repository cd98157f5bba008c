package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Calls functions for sockets. Each method returns the result of its function, or minus the error number. */
final class SocketCalls {
    static final int AF_UNIX = 1;
    static final int SOCK_STREAM = 1;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int SOL_SOCKET = 1;
    static final int SO_PEERCRED = 17;
    static final int SO_SNDTIMEO = 21;
    static final int SCM_RIGHTS = 1;
    static final int MSG_CTRUNC = 0x8;
    static final int MSG_NOSIGNAL = 0x4000;
    static final int MSG_CMSG_CLOEXEC = 0x40000000;
    static final short POLLIN = 1;
    static final short POLLOUT = 4;

    /** The size of struct pollfd, and the offset of its member {@code events}. */
    static final int POLL_BYTES = 8;
    static final int POLL_EVENTS = 4;

    private static final MethodHandle SOCKET = CLibrary.function("socket",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle SOCKETPAIR = CLibrary.function("socketpair",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle BIND = CLibrary.function("bind",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle LISTEN = CLibrary.function("listen",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle ACCEPT = CLibrary.function("accept4",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    private static final MethodHandle CONNECT = CLibrary.function("connect",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle GETSOCKNAME = CLibrary.function("getsockname",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle GETPEERNAME = CLibrary.function("getpeername",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle GETSOCKOPT = CLibrary.function("getsockopt",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SETSOCKOPT = CLibrary.function("setsockopt",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle SHUTDOWN = CLibrary.function("shutdown",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    // sendmsg, recvmsg and poll run on the data path. Addresses are passed as numbers, so that no object is allocated.
    private static final MethodHandle SENDMSG = CLibrary.function("sendmsg",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle RECVMSG = CLibrary.function("recvmsg",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle POLL = CLibrary.function("poll",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

    private SocketCalls() {}

    static int socket(int type) {
        return (int) CLibrary.call(SOCKET, AF_UNIX, type, 0);
    }

    static int socketpair(int type, MemorySegment descriptors) {
        return (int) CLibrary.call(SOCKETPAIR, AF_UNIX, type, 0, descriptors);
    }

    static int bind(int descriptor, MemorySegment address) {
        return (int) CLibrary.call(BIND, descriptor, address, (int) address.byteSize());
    }

    static int listen(int descriptor, int backlog) {
        return (int) CLibrary.call(LISTEN, descriptor, backlog);
    }

    static int accept(int descriptor, int flags) {
        return (int) CLibrary.call(ACCEPT, descriptor, MemorySegment.NULL, MemorySegment.NULL, flags);
    }

    static int connect(int descriptor, MemorySegment address) {
        return (int) CLibrary.call(CONNECT, descriptor, address, (int) address.byteSize());
    }

    static int getsockname(int descriptor, MemorySegment address, MemorySegment length) {
        return (int) CLibrary.call(GETSOCKNAME, descriptor, address, length);
    }

    static int getpeername(int descriptor, MemorySegment address, MemorySegment length) {
        return (int) CLibrary.call(GETPEERNAME, descriptor, address, length);
    }

    static int getsockopt(int descriptor, int level, int name, MemorySegment value, MemorySegment length) {
        return (int) CLibrary.call(GETSOCKOPT, descriptor, level, name, value, length);
    }

    static int setsockopt(int descriptor, int level, int name, MemorySegment value, int length) {
        return (int) CLibrary.call(SETSOCKOPT, descriptor, level, name, value, length);
    }

    static int shutdown(int descriptor, int how) {
        return (int) CLibrary.call(SHUTDOWN, descriptor, how);
    }

    static long sendmsg(MemorySegment callState, int descriptor, long message, int flags) {
        try {
            return CLibrary.result(callState, (long) SENDMSG.invokeExact(callState, descriptor, message, flags));
        } catch (Throwable e) {
            throw CLibrary.failed(e);
        }
    }

    static long recvmsg(MemorySegment callState, int descriptor, long message, int flags) {
        try {
            return CLibrary.result(callState, (long) RECVMSG.invokeExact(callState, descriptor, message, flags));
        } catch (Throwable e) {
            throw CLibrary.failed(e);
        }
    }

    static int poll(MemorySegment callState, long descriptors, int count, int timeoutMs) {
        try {
            int ready = (int) POLL.invokeExact(callState, descriptors, (long) count, timeoutMs);
            return (int) CLibrary.result(callState, ready);
        } catch (Throwable e) {
            throw CLibrary.failed(e);
        }
    }
}
