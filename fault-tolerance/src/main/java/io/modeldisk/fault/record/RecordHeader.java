package io.modeldisk.fault.record;

import io.modeldisk.platform.text.PlainText;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The header of a record, as a view of memory. All fields are little endian. The body follows the header, and is padded with
 * zeros to a multiple of 8 bytes.
 *
 * <pre>
 *  0 int   length of the body in bytes, without padding
 *  4 int   CRC32C of the header (with this field 0), of the body and of the padding
 *  8 byte  kind            9 byte flags            10 short 0
 * 12 int   block          16 int  offset of the range in the block, in bytes
 * 20 int   length of the range in bytes
 * 24 long  learner: the membership number; in a BLOCK record, the number of the checkpoint
 * 32 long  round
 * 40 long  version
 * 48 long  position: 1, 2, 3 and so on, without a gap
 * 56 long  epoch of the shard's primary; 0 without a coordinator
 * </pre>
 *
 * <p>Not thread-safe.
 */
public final class RecordHeader {
    /** The length of a header in bytes. */
    public static final int BYTES = 64;

    /** A flag of {@link RecordKind#PUSH}: the piece has no data, because its gradient was left out or is in other records. */
    public static final byte WITHOUT_DATA = 1;
    /** A flag of {@link RecordKind#BLOCK}: the body has the sum of the open round. */
    public static final byte WITH_SUM = 2;
    /** A flag of {@link RecordKind#ROSTER}: the job has formed. */
    public static final byte FORMED = 4;

    private static final int ALIGNMENT = 8;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int BODY_BYTES_FIELD = 0;
    private static final int CHECKSUM_FIELD = 4;
    private static final int KIND_FIELD = 8;
    private static final int FLAGS_FIELD = 9;
    private static final int BLOCK_FIELD = 12;
    private static final int OFFSET_FIELD = 16;
    private static final int RANGE_FIELD = 20;
    private static final int LEARNER_FIELD = 24;
    private static final int ROUND_FIELD = 32;
    private static final int VERSION_FIELD = 40;
    private static final int POSITION_FIELD = 48;
    private static final int EPOCH_FIELD = 56;

    private static final byte[] NO_CHECKSUM = new byte[Integer.BYTES];

    private MemorySegment memory;
    private long start;

    /** Points to the header at {@code offset} of this memory. */
    public RecordHeader wrap(MemorySegment segment, long offset) {
        memory = segment;
        start = offset;
        return this;
    }

    /** Returns the length of a record, with header and padding, whose body has {@code bodyBytes} bytes. */
    public static long recordBytes(long bodyBytes) {
        return BYTES + (bodyBytes + ALIGNMENT - 1 & -ALIGNMENT);
    }

    /** Writes a header without checksum. A static method, because the data path creates no objects. */
    static void put(MemorySegment memory, long start, RecordKind kind, byte flags, int block, int offset,
        int rangeBytes,
        long learner, long round, long version, int bodyBytes, long position, long epoch) {
        memory.set(INT, start + BODY_BYTES_FIELD, bodyBytes);
        memory.set(INT, start + CHECKSUM_FIELD, 0);
        memory.set(INT, start + KIND_FIELD, kind.code() & 0xFF | (flags & 0xFF) << Byte.SIZE);
        memory.set(INT, start + BLOCK_FIELD, block);
        memory.set(INT, start + OFFSET_FIELD, offset);
        memory.set(INT, start + RANGE_FIELD, rangeBytes);
        memory.set(LONG, start + LEARNER_FIELD, learner);
        memory.set(LONG, start + ROUND_FIELD, round);
        memory.set(LONG, start + VERSION_FIELD, version);
        memory.set(LONG, start + POSITION_FIELD, position);
        memory.set(LONG, start + EPOCH_FIELD, epoch);
    }

    /** Fills the padding of a body with zeros. */
    static void pad(MemorySegment memory, long start, int bodyBytes) {
        for (long at = start + BYTES + bodyBytes; at % ALIGNMENT != 0; at++) {
            memory.set(ValueLayout.JAVA_BYTE, at, (byte) 0);
        }
    }

    /** Writes the checksum. {@code bytes} is a view of the same memory, and {@code at} the index of this record in it. */
    void seal(ByteBuffer bytes, int at, CRC32C scratch) {
        scratch.reset();
        scratch.update(bytes.limit(at + (int) recordBytes()).position(at));
        memory.set(INT, start + CHECKSUM_FIELD, (int) scratch.getValue());
    }

    /**
     * Returns a description of the damage to the record; null if its checksum is right and its kind is known. {@code bytes} is a
     * view of the same memory, and {@code at} the index of this record in it. Allocates no objects for an undamaged record.
     */
    String damage(ByteBuffer bytes, int at, CRC32C scratch) {
        scratch.reset();
        scratch.update(bytes.limit(at + CHECKSUM_FIELD).position(at));
        scratch.update(NO_CHECKSUM);
        scratch.update(bytes.limit(at + (int) recordBytes()).position(at + KIND_FIELD));
        int checksum = (int) scratch.getValue();
        if (checksum() != checksum) {
            return PlainText.format("the checksum is %08x, but the header has %08x", checksum, checksum());
        }
        return kind() == null ? "the kind of the record is unknown to this version of modeldisk" : null;
    }

    /** True if memory has only zeros from {@code start} to {@code end}, exclusive. */
    static boolean isZero(MemorySegment memory, long start, long end) {
        long at = start;
        while (at + Long.BYTES <= end && memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at) == 0) {
            at += Long.BYTES;
        }
        while (at < end && memory.get(ValueLayout.JAVA_BYTE, at) == 0) {
            at++;
        }
        return at == end;
    }

    /** The memory of the record. */
    public MemorySegment memory() {
        return memory;
    }

    /** The offset of the header in {@link #memory()}. */
    public long start() {
        return start;
    }

    /** The offset of the body in {@link #memory()}. */
    public long bodyStart() {
        return start + BYTES;
    }

    /** The length of the body in bytes, without padding. In a damaged header, the length can be negative. */
    public int bodyBytes() {
        return memory.get(INT, start + BODY_BYTES_FIELD);
    }

    /** The length of header, body and padding in bytes. */
    public long recordBytes() {
        return recordBytes(bodyBytes());
    }

    private int checksum() {
        return memory.get(INT, start + CHECKSUM_FIELD);
    }

    /** The kind; null if the code is unknown. */
    public RecordKind kind() {
        return RecordKind.of(memory.get(ValueLayout.JAVA_BYTE, start + KIND_FIELD));
    }

    /** The flags. */
    public byte flags() {
        return memory.get(ValueLayout.JAVA_BYTE, start + FLAGS_FIELD);
    }

    /** True if a flag is set. */
    public boolean has(byte flag) {
        return (flags() & flag) != 0;
    }

    /** The index of the block in the shard. */
    public int block() {
        return memory.get(INT, start + BLOCK_FIELD);
    }

    /** The start of the range in the block, in bytes. */
    public int offset() {
        return memory.get(INT, start + OFFSET_FIELD);
    }

    /** The length of the range in bytes. */
    public int rangeBytes() {
        return memory.get(INT, start + RANGE_FIELD);
    }

    /** The membership number of the learner; 0 if there is none. */
    public long learner() {
        return memory.get(LONG, start + LEARNER_FIELD);
    }

    /** The number of the checkpoint of a {@link RecordKind#BLOCK}. */
    public long checkpoint() {
        return learner();
    }

    /** The round; its meaning depends on the kind. */
    public long round() {
        return memory.get(LONG, start + ROUND_FIELD);
    }

    /** The version of the block after this record is applied. */
    public long version() {
        return memory.get(LONG, start + VERSION_FIELD);
    }

    /** The position of the record in the log, from 1. */
    public long position() {
        return memory.get(LONG, start + POSITION_FIELD);
    }

    /** The epoch of the primary that wrote the record; 0 without a coordinator. */
    public long epoch() {
        return memory.get(LONG, start + EPOCH_FIELD);
    }

    /** Describes the record for logs and messages. */
    @Override
    public String toString() {
        return "record " + position() + " (" + kind() + ", block " + block() + ", round " + round() + ", version "
            + version()
            + ")";
    }
}
