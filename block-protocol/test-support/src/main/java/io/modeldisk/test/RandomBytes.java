package io.modeldisk.test;

import java.util.Random;

/** Random data that is the same in every run. */
public final class RandomBytes {
    private RandomBytes() {}

    /** Random bytes, the same for the same seed. */
    public static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
