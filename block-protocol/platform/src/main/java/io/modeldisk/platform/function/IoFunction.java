package io.modeldisk.platform.function;

import java.io.IOException;

/** A function that may fail. */
@FunctionalInterface
public interface IoFunction<T, R> {
    /** Returns the result for an argument. */
    R apply(T argument) throws IOException;
}
