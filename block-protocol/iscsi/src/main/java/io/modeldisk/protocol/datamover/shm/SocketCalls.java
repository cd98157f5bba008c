package io.modeldisk.protocol.datamover.shm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** Linux's calls for Unix sockets. Each returns what the call returns, or minus the error number. */
final class SocketCalls {
    static final int AF_UNIX = 1;
    static final int SOCK_STREAM = 1;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int SOL_SOCKET = 1;
    static final int SO_PEERCRED = 17;
    static final int SCM_RIGHTS = 1;
    static final int SHUT_RD = 0;
    static final int SHUT_WR = 1;
    static final int MSG_CTRUNC = 0x8;
    static final int MSG_NOSIGNAL = 0x4000;
    static final int MSG_CMSG_CLOEXEC = 0x40000000;
    static final short POLLIN = 1;
    static final short POLLOUT = 4;
    static final int ENOENT = 2;
    static final int EINTR = 4;
    static final int EAGAIN = 11;
    static final int EINVAL = 22;
    static final int EPIPE = 32;
    static final int EADDRINUSE = 98;
    static final int ECONNRESET = 104;
    static final int ECONNREFUSED = 111;

    static final MemoryLayout STATE = Linker.Option.captureStateLayout();

    private static final int TEXT_BYTES = 256;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private static final MethodHandle SOCKET = handle("socket",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle SOCKETPAIR = handle("socketpair",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle BIND = handle("bind",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle LISTEN = handle("listen", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle ACCEPT = handle("accept4",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    private static final MethodHandle CONNECT = handle("connect",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle GETSOCKOPT = handle("getsockopt",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SHUTDOWN = handle("shutdown",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle GETEUID = handle("geteuid", FunctionDescriptor.of(JAVA_INT));
    // These four are on the data path: pointers go by address, as numbers, so that nothing is wrapped or made.
    private static final MethodHandle SENDMSG = handle("sendmsg",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle RECVMSG = handle("recvmsg",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle POLL = handle("poll",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle STRERROR = handle("strerror", FunctionDescriptor.of(ADDRESS, JAVA_INT));

    private SocketCalls() {}

    static int socket(int type) {
        return call(SOCKET, AF_UNIX, type, 0);
    }

    static int socketpair(int type, MemorySegment descriptors) {
        return call(SOCKETPAIR, AF_UNIX, type, 0, descriptors);
    }

    static int bind(int fd, MemorySegment address) {
        return call(BIND, fd, address, (int) address.byteSize());
    }

    static int listen(int fd, int backlog) {
        return call(LISTEN, fd, backlog);
    }

    static int accept(int fd, int flags) {
        return call(ACCEPT, fd, MemorySegment.NULL, MemorySegment.NULL, flags);
    }

    static int connect(int fd, MemorySegment address) {
        return call(CONNECT, fd, address, (int) address.byteSize());
    }

    static int getsockopt(int fd, int level, int name, MemorySegment value, MemorySegment length) {
        return call(GETSOCKOPT, fd, level, name, value, length);
    }

    static int shutdown(int fd, int how) {
        return call(SHUTDOWN, fd, how);
    }

    static int close(int fd) {
        return call(CLOSE, fd);
    }

    static int effectiveUserId() {
        return call(GETEUID);
    }

    static long sendmsg(MemorySegment state, int fd, long message, int flags) {
        try {
            return result(state, (long) SENDMSG.invokeExact(state, fd, message, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static long recvmsg(MemorySegment state, int fd, long message, int flags) {
        try {
            return result(state, (long) RECVMSG.invokeExact(state, fd, message, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static int poll(MemorySegment state, long descriptors, int count, int timeoutMillis) {
        try {
            return (int) result(state, (int) POLL.invokeExact(state, descriptors, (long) count, timeoutMillis));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** An error number in words. */
    // The C library's text for an error number is a string that stays.
    @SuppressWarnings("restricted")
    static String text(long errno) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = (MemorySegment) STRERROR.invokeExact(arena.allocate(STATE), (int) errno);
            return text.reinterpret(TEXT_BYTES).getString(0) + " (errno " + errno + ")";
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static int call(MethodHandle function, Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            Object[] all = new Object[arguments.length + 1];
            MemorySegment state = arena.allocate(STATE);
            all[0] = state;
            System.arraycopy(arguments, 0, all, 1, arguments.length);
            return (int) result(state, (int) function.invokeWithArguments(all));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static long result(MemorySegment state, long returned) {
        return returned == -1 ? -(int) ERRNO.get(state, 0L) : returned;
    }

    private static IllegalStateException unexpected(Throwable e) {
        return new IllegalStateException("a system call could not be made", e);
    }

    // The signatures above are those of the C library.
    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker.Option[] all = new Linker.Option[options.length + 1];
        System.arraycopy(options, 0, all, 1, options.length);
        all[0] = Linker.Option.captureCallState("errno");
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type, all);
    }
}
