package io.modeldisk.platform.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Collections;
import java.util.Optional;

/**
 * Calls functions of the C library. A failed call returns minus its error number, so no exception is created on the data path.
 *
 * <p>All functions that are called here take only integers and addresses. The calling conventions of 64-bit Linux pass integers
 * and addresses in general-purpose registers, and a function ignores the registers for which it has no parameter. Two function
 * types are therefore enough for all functions, including variadic functions: one with three and one with six parameters. Java
 * needs about 10 ms to link a function type, so a separate type for each of the 40 functions would delay the start of a process
 * by 0.4 s.
 */
final class CLibrary {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup FUNCTIONS = LINKER.defaultLookup();
    private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final int MAX_ARGUMENTS = 6;
    private static final MethodHandle CALL = link(MAX_ARGUMENTS);
    private static final MethodHandle CALL_ON_DATA_PATH = link(3);

    private CLibrary() {}

    // The restricted call is safe, because each caller passes the arguments that the C function expects.
    @SuppressWarnings("restricted")
    private static MethodHandle link(int arguments) {
        MemoryLayout[] types = Collections.nCopies(arguments, JAVA_LONG).toArray(MemoryLayout[]::new);
        return LINKER.downcallHandle(FunctionDescriptor.of(JAVA_LONG, types), Linker.Option.captureCallState("errno"));
    }

    /** A function for the data path. A call allocates no Java object, so addresses are passed as numbers. */
    record Function(MethodHandle handle, boolean returnsInt) {
        /**
         * Calls the function with three arguments. A function with fewer parameters ignores the other arguments.
         *
         * @param callState a segment from {@link #newCallState}
         * @return the result, or minus the error number
         */
        long call(MemorySegment callState, long first, long second, long third) {
            try {
                long returned = (long) handle.invokeExact(callState, first, second, third);
                return result(callState, returnsInt ? (int) returned : returned);
            } catch (Throwable e) {
                throw failed(e);
            }
        }
    }

    /** Returns a function for the data path that returns a long. */
    static Function function(String name) {
        return function(name, false);
    }

    /** Returns a function for the data path that returns an int. */
    static Function functionForInt(String name) {
        return function(name, true);
    }

    private static Function function(String name, boolean returnsInt) {
        return new Function(MethodHandles.insertArguments(CALL_ON_DATA_PATH, 0, FUNCTIONS.findOrThrow(name)),
            returnsInt);
    }

    /** Returns the address of a function. The result is empty if this C library does not have the function. */
    static Optional<MemorySegment> find(String name) {
        return FUNCTIONS.find(name);
    }

    /** Allocates memory for the error number of a call. Calls that run at the same time need separate memory. */
    static MemorySegment newCallState(Arena arena) {
        return arena.allocate(CALL_STATE);
    }

    /** Returns the result of a call, or minus its error number if the result is -1. */
    private static long result(MemorySegment callState, long returned) {
        return returned == -1 ? -(int) ERRNO.get(callState, 0L) : returned;
    }

    /**
     * Calls a function that returns an int. Must not be used on the data path, because the call allocates objects.
     *
     * @param arguments numbers, segments outside of the Java heap, and strings, which are converted to C strings
     */
    static int call(String function, Object... arguments) {
        return (int) invoke(true, function, arguments);
    }

    /** Calls a function that returns a long or an address. See {@link #call}. */
    static long callForLong(String function, Object... arguments) {
        return invoke(false, function, arguments);
    }

    private static long invoke(boolean returnsInt, String function, Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            long[] numbers = new long[MAX_ARGUMENTS];
            for (int i = 0; i < arguments.length; i++) {
                numbers[i] = switch (arguments[i]) {
                    case String text -> arena.allocateFrom(text).address();
                    case MemorySegment segment -> segment.address();
                    case Object number -> ((Number) number).longValue();
                };
            }
            MemorySegment callState = newCallState(arena);
            long returned = (long) CALL.invokeExact(FUNCTIONS.findOrThrow(function), callState, numbers[0], numbers[1],
                numbers[2], numbers[3], numbers[4], numbers[5]);
            // If the function returns an int, the upper half of the result register is undefined.
            return result(callState, returnsInt ? (int) returned : returned);
        } catch (Throwable e) {
            throw failed(e);
        }
    }

    /** Wraps an exception that {@code invokeExact} declares. In fact, a C function never throws a Java exception. */
    private static IllegalStateException failed(Throwable e) {
        return new IllegalStateException("a call of the C library failed", e);
    }
}
