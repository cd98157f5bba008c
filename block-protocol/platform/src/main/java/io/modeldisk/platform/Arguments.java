package io.modeldisk.platform;

/** Checks the values of options, settings and parameters. */
public final class Arguments {
    private Arguments() {}

    /** Throws an {@code IllegalArgumentException} with the message unless the condition is true. Not for the data path. */
    public static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
