package io.modeldisk.protocol.initiator;

import java.security.SecureRandom;

/**
 * Initiator session identifiers (RFC 7143 section 11.12.5) of the random format. Two processes with the same initiator name have
 * different identifiers, so a session of one process never replaces a session of another process.
 */
public final class Isid {
    /** The format: the first two bits are 10b, and the remaining bits are random. */
    private static final long RANDOM_FORMAT = 0x80L << 40;
    private static final long RANDOM_BITS = 0xFF_FFFF_FFFCL;

    private Isid() {}

    /** Returns a random identifier whose last two bits are 0. The caller can number the sessions of a process with these bits. */
    public static long random() {
        return RANDOM_FORMAT | new SecureRandom().nextLong() & RANDOM_BITS;
    }
}
