package io.modeldisk.platform.linux;

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

    // sendmsg, recvmsg and poll run on the data path. Addresses are passed as numbers, so that no object is allocated.
    private static final MethodHandle SENDMSG = CLibrary.function("sendmsg");
    private static final MethodHandle RECVMSG = CLibrary.function("recvmsg");
    private static final MethodHandle POLL = CLibrary.function("poll");

    private SocketCalls() {}

    static int socket(int type) {
        return CLibrary.call("socket", AF_UNIX, type, 0);
    }

    static int socketpair(int type, MemorySegment descriptors) {
        return CLibrary.call("socketpair", AF_UNIX, type, 0, descriptors);
    }

    static int bind(int descriptor, MemorySegment address) {
        return CLibrary.call("bind", descriptor, address, (int) address.byteSize());
    }

    static int listen(int descriptor, int backlog) {
        return CLibrary.call("listen", descriptor, backlog);
    }

    static int accept(int descriptor, int flags) {
        return CLibrary.call("accept4", descriptor, MemorySegment.NULL, MemorySegment.NULL, flags);
    }

    static int connect(int descriptor, MemorySegment address) {
        return CLibrary.call("connect", descriptor, address, (int) address.byteSize());
    }

    static int getsockname(int descriptor, MemorySegment address, MemorySegment length) {
        return CLibrary.call("getsockname", descriptor, address, length);
    }

    static int getpeername(int descriptor, MemorySegment address, MemorySegment length) {
        return CLibrary.call("getpeername", descriptor, address, length);
    }

    static int getsockopt(int descriptor, int level, int name, MemorySegment value, MemorySegment length) {
        return CLibrary.call("getsockopt", descriptor, level, name, value, length);
    }

    static int setsockopt(int descriptor, int level, int name, MemorySegment value, int length) {
        return CLibrary.call("setsockopt", descriptor, level, name, value, length);
    }

    static int shutdown(int descriptor, int how) {
        return CLibrary.call("shutdown", descriptor, how);
    }

    static long sendmsg(MemorySegment callState, int descriptor, long message, int flags) {
        try {
            return CLibrary.result(callState,
                (long) SENDMSG.invokeExact(callState, (long) descriptor, message, (long) flags));
        } catch (Throwable e) {
            throw CLibrary.failed(e);
        }
    }

    static long recvmsg(MemorySegment callState, int descriptor, long message, int flags) {
        try {
            return CLibrary.result(callState,
                (long) RECVMSG.invokeExact(callState, (long) descriptor, message, (long) flags));
        } catch (Throwable e) {
            throw CLibrary.failed(e);
        }
    }

    static int poll(MemorySegment callState, long descriptors, int count, int timeoutMs) {
        try {
            long ready = (long) POLL.invokeExact(callState, descriptors, (long) count, (long) timeoutMs);
            return (int) CLibrary.result(callState, (int) ready);
        } catch (Throwable e) {
            throw CLibrary.failed(e);
        }
    }
}
