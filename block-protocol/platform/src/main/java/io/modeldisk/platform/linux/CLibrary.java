package io.modeldisk.platform.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/** Functions of the C library. A failed call returns minus its error number, so that nothing is thrown on the data path. */
final class CLibrary {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private CLibrary() {}

    /** The function with this name, which sets errno; its first argument is a segment of {@link #newCallState}. */
    // Each caller gives the signature that the function has in the C library.
    @SuppressWarnings("restricted")
    static MethodHandle function(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker.Option[] all = new Linker.Option[options.length + 1];
        System.arraycopy(options, 0, all, 1, options.length);
        all[0] = Linker.Option.captureCallState("errno");
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type, all);
    }

    /** The address of a function, if this C library has it. */
    static Optional<MemorySegment> find(String name) {
        return LINKER.defaultLookup().find(name);
    }

    /** Room for the error number of one call at a time. */
    static MemorySegment newCallState(Arena arena) {
        return arena.allocate(CALL_STATE);
    }

    /** What a call returned, or minus its error number if that is -1. */
    static long result(MemorySegment callState, long returned) {
        return returned == -1 ? -(int) ERRNO.get(callState, 0L) : returned;
    }

    /** Calls a function that returns an int or a long. Strings become C strings. Makes objects: not for the data path. */
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

    /** For what a method handle can throw in theory: a call of a C function throws nothing. */
    static IllegalStateException failed(Throwable e) {
        return new IllegalStateException("native call failed", e);
    }
}
