package io.modeldisk.platform.function;

import java.io.IOException;

/** A function that can throw an {@link IOException}. */
@FunctionalInterface
public interface IoFunction<T, R> {
    /** Returns the result for an argument. */
    R apply(T argument) throws IOException;
}
