package io.modeldisk.platform.function;

import java.io.IOException;

/** An action that can throw an {@link IOException}. */
@FunctionalInterface
public interface IoConsumer<T> {
    /** Runs the action with an argument. */
    void accept(T argument) throws IOException;
}
