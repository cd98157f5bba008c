package io.modeldisk.platform.function;

import java.io.IOException;

/** A supplier that can throw an {@link IOException}. */
@FunctionalInterface
public interface IoSupplier<T> {
    /** Returns a result. */
    T get() throws IOException;
}
