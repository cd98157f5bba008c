package io.modeldisk.server.fake;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads and writes values in memory. */
public final class Weights {
    private static final int PAGE = 4096;

    private Weights() {}

    /** The weight at a byte offset of the shard. */
    public static float at(BlockStore store, long offset) {
        var block = store.block(store.layout().blockOf(offset));
        try (ScopedLock.Held _ = block.hold()) {
            return block.readable().weights().get(ValueLayout.JAVA_FLOAT, store.layout().offsetInBlock(offset));
        }
    }

    /** Fills memory with one value. */
    public static void fill(MemorySegment memory, float value) {
        for (long i = 0; i < memory.byteSize(); i += Float.BYTES) {
            memory.set(ValueLayout.JAVA_FLOAT, i, value);
        }
    }

    /** Reads all data of a task from a unit. Fails if the read must wait. */
    public static MemorySegment read(LogicalUnit unit, FakeTask task) throws ScsiException {
        if (!unit.admitRead(task)) {
            throw new AssertionError(
                "the read of " + task.nexus().learner() + " at byte " + task.offset() + " must wait");
        }
        MemorySegment data = Arena.ofAuto().allocate(task.dataBytes(), Long.BYTES);
        Pin pin = new Pin();
        for (int done = 0; done < task.dataBytes(); done += pin.lengthBytes()) {
            unit.pin(task, done, pin);
            MemorySegment.copy(of(pin), 0, data, done, pin.lengthBytes());
            unit.unpin(pin);
        }
        return data;
    }

    /** The pinned data. */
    public static MemorySegment of(Pin pin) {
        return pin.memory().segment(pin.offset(), pin.lengthBytes());
    }

    /** Returns the common value of all pinned weights. Fails if the weights differ. */
    public static float uniform(Pin pin) {
        MemorySegment data = of(pin);
        float first = data.get(ValueLayout.JAVA_FLOAT, 0);
        for (long i = 0; i < data.byteSize(); i += Float.BYTES) {
            float value = data.get(ValueLayout.JAVA_FLOAT, i);
            if (value != first) {
                throw new AssertionError("torn read: weight is " + first + " at byte 0, " + value + " at byte " + i);
            }
        }
        return first;
    }

    /** Returns the lowest of the pinned weights. Fails if the weights of one logical block differ. */
    public static float uniformByPage(Pin pin) {
        MemorySegment data = of(pin);
        float least = Float.MAX_VALUE;
        for (long page = 0; page < data.byteSize(); page += PAGE) {
            float first = data.get(ValueLayout.JAVA_FLOAT, page);
            for (long i = page; i < page + PAGE; i += Float.BYTES) {
                float value = data.get(ValueLayout.JAVA_FLOAT, i);
                if (value != first) {
                    throw new AssertionError(
                        "torn read: weight is " + first + " at byte " + page + ", " + value + " at byte " + i);
                }
            }
            least = Math.min(least, first);
        }
        return least;
    }
}
