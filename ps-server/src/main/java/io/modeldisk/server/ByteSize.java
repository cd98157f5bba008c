package io.modeldisk.server;

/** Sizes as people write them. */
final class ByteSize {
    private static final int KIB = 1024;

    private ByteSize() {}

    /** The shortest exact form: {@code 256k}, {@code 1m}, {@code 3g}, or plain bytes. */
    static String format(long bytes) {
        String[] units = {"", "k", "m", "g"};
        long value = bytes;
        int unit = 0;
        while (unit < units.length - 1 && value != 0 && value % KIB == 0) {
            value /= KIB;
            unit++;
        }
        return value + units[unit];
    }
}
