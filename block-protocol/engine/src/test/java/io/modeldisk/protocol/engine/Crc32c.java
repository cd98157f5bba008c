package io.modeldisk.protocol.engine;

/** Computes CRC32C bit by bit from the polynomial (RFC 7143 section 13.1), independently of the code under test. */
public final class Crc32c {
    /** The polynomial 11EDC6F41h with its bits in reverse order. */
    private static final int POLYNOMIAL = 0x82F63B78;

    private Crc32c() {}

    /** Returns the four bytes of the digest in wire order. */
    public static byte[] digest(byte[] data) {
        int crc = -1;
        for (byte next : data) {
            crc ^= next & 0xFF;
            for (int bit = 0; bit < 8; bit++) {
                crc = crc >>> 1 ^ ((crc & 1) == 0 ? 0 : POLYNOMIAL);
            }
        }
        crc = ~crc;
        return new byte[]{(byte) crc, (byte) (crc >>> 8), (byte) (crc >>> 16), (byte) (crc >>> 24)};
    }
}
