package io.modeldisk.protocol.engine;

/** CRC32C bit by bit from its polynomial (RFC 7143 section 13.1): independent of the code that it checks. */
public final class Crc32c {
    /** 11EDC6F41h, mirrored. */
    private static final int POLYNOMIAL = 0x82F63B78;

    private Crc32c() {}

    /** The four bytes of the digest in the order on the wire. */
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
