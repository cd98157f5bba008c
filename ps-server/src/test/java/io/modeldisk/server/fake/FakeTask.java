package io.modeldisk.server.fake;

import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A task for tests. Its memory contains the pieces of the data, followed by the scratch memory. */
public final class FakeTask implements IoTask {
    // The scratch memory is smaller than that of a real task, because tests use small blocks and many tasks.
    public static final int SCRATCH_BYTES = 16 << 10;
    private static final long PATIENCE_SECONDS = 30;
    private final Nexus nexus;
    private final long offset;
    private final int[] pieces;
    private final int dataBytes;
    private final DataMemory memory;
    private DataMemory place;
    private long start;
    private long round = IMPLIED_ROUND;
    private boolean declaredFinite;
    private boolean absent;
    private boolean declaredNonFinite;
    private int marked;
    private int absentBlocks;
    private ValueType type = ValueType.FLOAT32;
    private long logPosition;
    private long deviceTicket;
    private final Semaphore resumed = new Semaphore(0);

    /** Creates a task whose data has pieces of these lengths. */
    public FakeTask(Nexus nexus, long offset, int... pieces) {
        this.nexus = nexus;
        this.offset = offset;
        this.pieces = pieces.clone();
        this.dataBytes = Arrays.stream(pieces).sum();
        this.memory = DataMemory.allocate(dataBytes + SCRATCH_BYTES);
        this.place = memory;
    }

    /** Returns the nexus of an initiator with this name. */
    public static Nexus nexus(String name) {
        return new Nexus("iqn.2026-11.test:" + name, 1, "iqn.2026-11.io.modeldisk:test", name, Right.ALL, null,
            null);
    }

    /** Fills the data with one value. */
    public FakeTask fill(float value) {
        Weights.fill(data(), value);
        return this;
    }

    /** Fills each logical block of the data with its own value. */
    public FakeTask fillEach(float... values) {
        for (int i = 0; i < values.length; i++) {
            Weights.fill(memory.segment((long) i * LogicalBlock.BYTES, LogicalBlock.BYTES), values[i]);
        }
        return this;
    }

    /** Makes the task a PUSH or a PULL with this round number. */
    public FakeTask ofRound(long number) {
        round = number;
        return this;
    }

    /** Sets the type of the data. For a 16-bit type, the offset and the length of the task are twice those of the data. */
    public FakeTask ofType(ValueType other) {
        type = other;
        return this;
    }

    /** Sets the FINITE bit, which declares that the gradient has no NaN and no infinity. */
    public FakeTask declareFinite() {
        declaredFinite = true;
        return this;
    }

    /** Makes the task an ABSENT: its range has no data. */
    public FakeTask absent() {
        absent = true;
        return this;
    }

    /** Sets the NON_FINITE bit of an ABSENT. */
    public FakeTask declareNonFinite() {
        declaredNonFinite = true;
        return this;
    }

    /** Places the data at an offset in device memory. */
    public FakeTask arrivesIn(DataMemory device, long offsetInDevice) {
        place = device;
        start = offsetInDevice;
        return this;
    }

    /** The data of all pieces, in order. */
    public MemorySegment data() {
        return memory.segment(0, dataBytes);
    }

    /** Waits until the task is resumed. Fails after 30 seconds. */
    public void awaitResume() {
        try {
            if (!resumed.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the task of " + nexus.learner() + " at byte " + offset + " was not resumed");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The number of calls of {@link #resume} that {@link #awaitResume} has not consumed yet. */
    public int resumes() {
        return resumed.availablePermits();
    }

    @Override
    public boolean declaredFinite() {
        return declaredFinite;
    }

    @Override
    public boolean isAbsent() {
        return absent;
    }

    @Override
    public boolean declaredNonFinite() {
        return declaredNonFinite;
    }

    @Override
    public void addMarked(int logicalBlocks) {
        marked += logicalBlocks;
    }

    @Override
    public int marked() {
        return marked;
    }

    @Override
    public void addAbsent(int logicalBlocks) {
        absentBlocks += logicalBlocks;
    }

    @Override
    public int absentBlocks() {
        return absentBlocks;
    }

    @Override
    public Nexus nexus() {
        return nexus;
    }

    @Override
    public long round() {
        return round;
    }

    @Override
    public long offset() {
        return offset * type.widening();
    }

    @Override
    public int lengthBytes() {
        return dataBytes * type.widening();
    }

    @Override
    public ValueType valueType() {
        return type;
    }

    @Override
    public DataMemory memory() {
        if (absent) {
            throw new IllegalStateException("an ABSENT has no data");
        }
        return place;
    }

    @Override
    public int pieceCount() {
        return pieces.length;
    }

    @Override
    public long pieceOffset(int index) {
        return start + Arrays.stream(pieces, 0, index).asLongStream().sum();
    }

    @Override
    public int pieceLengthBytes(int index) {
        return pieces[index];
    }

    @Override
    public long logPosition() {
        return logPosition;
    }

    @Override
    public void logPosition(long position) {
        logPosition = position;
    }

    @Override
    public long deviceTicket() {
        return deviceTicket;
    }

    @Override
    public void deviceTicket(long ticket) {
        deviceTicket = ticket;
    }

    @Override
    public long scratchOffset() {
        return dataBytes;
    }

    @Override
    public int scratchBytes() {
        return SCRATCH_BYTES;
    }

    @Override
    public void resume() {
        resumed.release();
    }
}
