package io.modeldisk.platform.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/**
 * Calls functions of the C library. A failed call returns minus its error number, so that no exception is created on the data
 * path.
 */
final class CLibrary {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private CLibrary() {}

    /**
     * Returns a handle of a C function that sets errno. The first argument of each call is a segment from {@link #newCallState}.
     */
    // The call is safe because each caller passes the signature that the function has in the C library.
    @SuppressWarnings("restricted")
    static MethodHandle function(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker.Option[] all = new Linker.Option[options.length + 1];
        System.arraycopy(options, 0, all, 1, options.length);
        all[0] = Linker.Option.captureCallState("errno");
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type, all);
    }

    /** Returns the address of a function. The result is empty if this C library does not have the function. */
    static Optional<MemorySegment> find(String name) {
        return LINKER.defaultLookup().find(name);
    }

    /** Allocates memory for the error number of a call. Calls that run at the same time need separate memory. */
    static MemorySegment newCallState(Arena arena) {
        return arena.allocate(CALL_STATE);
    }

    /** Returns the result of a call, or minus its error number if the result is -1. */
    static long result(MemorySegment callState, long returned) {
        return returned == -1 ? -(int) ERRNO.get(callState, 0L) : returned;
    }

    /**
     * Calls a function that returns an int or a long. Converts strings to C strings. Must not be used on the data path, because
     * the call allocates objects.
     */
    static long call(MethodHandle function, Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            Object[] all = new Object[arguments.length + 1];
            MemorySegment callState = newCallState(arena);
            all[0] = callState;
            for (int i = 0; i < arguments.length; i++) {
                all[i + 1] = arguments[i] instanceof String text ? arena.allocateFrom(text) : arguments[i];
            }
            return result(callState, ((Number) function.invokeWithArguments(all)).longValue());
        } catch (Throwable e) {
            throw failed(e);
        }
    }

    /** Wraps an exception that a method handle declares. A C function never throws a Java exception. */
    static IllegalStateException failed(Throwable e) {
        return new IllegalStateException("a call of the C library failed", e);
    }
}
