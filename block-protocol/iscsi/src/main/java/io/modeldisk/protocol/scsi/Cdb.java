package io.modeldisk.protocol.scsi;

/**
 * A flyweight over a command descriptor block (SPC-4 4.2) of 6, 10, 12 or 16 bytes, by its group code. Fields are unsigned
 * and big-endian. Not thread-safe.
 */
public final class Cdb {
    /** The longest block. */
    public static final int MAX_BYTES = 16;

    private static final int SIX_BYTE_DEFAULT_BLOCKS = 256;

    private final byte[] bytes = new byte[MAX_BYTES];

    /** The block itself, to be filled. */
    public byte[] bytes() {
        return bytes;
    }

    /** The operation code. */
    public int opcode() {
        return u8(0);
    }

    /** A byte. */
    public int u8(int at) {
        return bytes[at] & 0xFF;
    }

    /** Two bytes. */
    public int u16(int at) {
        return u8(at) << 8 | u8(at + 1);
    }

    /** Four bytes. */
    public long u32(int at) {
        return (long) u16(at) << 16 | u16(at + 2);
    }

    /** Eight bytes; a value of 2^63 or more is negative. */
    public long u64(int at) {
        return u32(at) << 32 | u32(at + 4);
    }

    /** The group code, which determines the length. */
    private int group() {
        return opcode() >> 5;
    }

    /** The logical block address of a READ, WRITE or SYNCHRONIZE CACHE; negative if it is 2^63 or more. */
    public long lba() {
        return switch (group()) {
            case 0 -> (u8(1) & 0x1F) << 16 | u16(2);
            case 4 -> u64(2);
            default -> u32(2);
        };
    }

    /** The number of logical blocks of a READ, WRITE or SYNCHRONIZE CACHE. */
    public long blocks() {
        return switch (group()) {
            case 0 -> u8(4) == 0 ? SIX_BYTE_DEFAULT_BLOCKS : u8(4);
            case 1, 2 -> u16(7);
            case 5 -> u32(6);
            default -> u32(10);
        };
    }

    /** The byte where the logical block address starts, for a field pointer. */
    public int lbaField() {
        return group() == 0 ? 1 : 2;
    }

    /** The byte where the number of logical blocks starts, for a field pointer. */
    public int blocksField() {
        return switch (group()) {
            case 0 -> 4;
            case 1, 2 -> 7;
            case 5 -> 6;
            default -> 10;
        };
    }

    /** The BYTCHK field of a VERIFY (SBC-3 5.33). */
    public int byteCheck() {
        return u8(1) >> 1 & 0x03;
    }
}
