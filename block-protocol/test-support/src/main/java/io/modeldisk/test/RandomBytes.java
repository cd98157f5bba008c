package io.modeldisk.test;

import java.util.Random;

/** Data that repeats from run to run. */
public final class RandomBytes {
    private RandomBytes() {}

    /** As many bytes, the same for the same seed. */
    public static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
