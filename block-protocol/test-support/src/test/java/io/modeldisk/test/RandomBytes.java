package io.modeldisk.test;

import java.util.Random;

/** Creates pseudo-random data that is the same in every run. */
public final class RandomBytes {
    private RandomBytes() {}

    /** Returns random bytes. The same seed produces the same bytes. */
    public static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
