package io.modeldisk.server.fake;

import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A task with its own memory: the data in pieces, then the scratch memory. */
public final class FakeTask implements IoTask {
    // Less than a real one: no test has larger blocks, and many tasks are made.
    public static final int SCRATCH_BYTES = 16 << 10;
    private static final long PATIENCE_SECONDS = 30;
    private final Nexus nexus;
    private final long offset;
    private final int[] pieces;
    private final int lengthBytes;
    private final DataMemory memory;
    private long round = IMPLIED_ROUND;
    private boolean declaredFinite;
    private final Semaphore resumed = new Semaphore(0);

    /** A task in pieces of the given lengths. */
    public FakeTask(Nexus nexus, long offset, int... pieces) {
        this.nexus = nexus;
        this.offset = offset;
        this.pieces = pieces.clone();
        this.lengthBytes = Arrays.stream(pieces).sum();
        this.memory = DataMemory.allocate(lengthBytes + SCRATCH_BYTES);
    }

    /** A nexus of one initiator. */
    public static Nexus nexus(String name) {
        return new Nexus("iqn.2026-11.test:" + name, 1, "iqn.2026-11.io.modeldisk:test", name);
    }

    /** Sets all values of the data. */
    public FakeTask fill(float value) {
        for (long i = 0; i < lengthBytes; i += Float.BYTES) {
            memory.slab(i).set(ValueLayout.JAVA_FLOAT, i, value);
        }
        return this;
    }

    /** Sets all values of each of the data's logical blocks. */
    public FakeTask fillEach(float... values) {
        for (int i = 0; i < values.length; i++) {
            MemorySegment logicalBlock = memory.segment((long) i * LogicalBlock.BYTES, LogicalBlock.BYTES);
            for (int j = 0; j < LogicalBlock.BYTES; j += Float.BYTES) {
                logicalBlock.set(ValueLayout.JAVA_FLOAT, j, values[i]);
            }
        }
        return this;
    }

    /** Makes it a PUSH or a PULL of this round. */
    public FakeTask ofRound(long number) {
        round = number;
        return this;
    }

    /** Sets the bit FINITE of a PUSH. */
    public FakeTask declareFinite() {
        declaredFinite = true;
        return this;
    }

    /** The data, in order. */
    public MemorySegment data() {
        return memory.segment(0, lengthBytes);
    }

    /** Waits until it is resumed, for a bounded time. */
    public void awaitResume() {
        try {
            if (!resumed.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("a task at " + offset + " of " + nexus.learner() + " was never resumed");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** How often it was resumed since the last time that was waited for. */
    public int resumes() {
        return resumed.availablePermits();
    }

    @Override
    public boolean declaredFinite() {
        return declaredFinite;
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
        return offset;
    }

    @Override
    public int lengthBytes() {
        return lengthBytes;
    }

    @Override
    public DataMemory memory() {
        return memory;
    }

    @Override
    public int pieceCount() {
        return pieces.length;
    }

    @Override
    public long pieceOffset(int index) {
        return Arrays.stream(pieces, 0, index).asLongStream().sum();
    }

    @Override
    public int pieceLengthBytes(int index) {
        return pieces[index];
    }

    @Override
    public long scratchOffset() {
        return lengthBytes;
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
