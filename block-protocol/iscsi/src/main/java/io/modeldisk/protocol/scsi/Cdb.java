package io.modeldisk.protocol.scsi;

/**
 * A flyweight over a command descriptor block (SPC-4 4.2). The group code in the operation code determines the length: 6, 10, 12
 * or 16 bytes. Fields are unsigned and big-endian. Not thread-safe.
 */
public final class Cdb {
    /** The length of the longest CDB in bytes. */
    public static final int MAX_BYTES = 16;

    private static final int SIX_BYTE_DEFAULT_BLOCKS = 256;

    private final byte[] bytes = new byte[MAX_BYTES];

    /** Returns the bytes of the CDB, which the caller fills. */
    public byte[] bytes() {
        return bytes;
    }

    /** The operation code. */
    public int opcode() {
        return u8(0);
    }

    /** Returns the byte at an offset. */
    public int u8(int at) {
        return bytes[at] & 0xFF;
    }

    /** Returns the two bytes from an offset. */
    public int u16(int at) {
        return u8(at) << 8 | u8(at + 1);
    }

    /** Returns the four bytes at an offset as an unsigned number. */
    public long u32(int at) {
        return (long) u16(at) << 16 | u16(at + 2);
    }

    /** Returns the eight bytes from an offset; a value of 2^63 or more is negative. */
    public long u64(int at) {
        return u32(at) << 32 | u32(at + 4);
    }

    /** The group code, which determines the length of the CDB. */
    private int group() {
        return opcode() >> 5;
    }

    /** The logical block address of a READ, WRITE or SYNCHRONIZE CACHE; negative if the address is 2^63 or more. */
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

    /** The offset of the logical block address, for a field pointer in sense data. */
    public int lbaField() {
        return group() == 0 ? 1 : 2;
    }

    /** The offset of the number of logical blocks, for a field pointer in sense data. */
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
