package io.modeldisk.protocol.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DevicePoolTest {
    private static final int CHUNK = BufferPool.CHUNK_BYTES;
    private static final int CHUNKS = 4;

    private final FakeDevice device = new FakeDevice();
    private final DevicePool pool = new DevicePool(device);
    private final DataMemory host = DataMemory.allocate(CHUNK);

    /** A device whose numbers of submitted and completed operations a test sets. */
    private static final class FakeDevice implements DeviceWrites {
        @SuppressWarnings("restricted")
        private final DataMemory memory = DataMemory.onDevice(
            MemorySegment.ofAddress(1L << 40).reinterpret(CHUNKS * (long) CHUNK), new DataMemory.OnDevice(-1, "no"));
        private long newest;
        private long done;

        @Override
        public DataMemory memory() {
            return memory;
        }

        @Override
        public void registered(String way) {}

        @Override
        public void refused(String reason) {}

        @Override
        public long newestOperation() {
            return newest;
        }

        @Override
        public long lastDoneOperation() {
            return done;
        }
    }

    @AfterEach
    void freeMemory() {
        assertThat(pool.idleChunks()).isEqualTo(CHUNKS);
        host.close();
    }

    private TaskSlot task(int bytes) {
        TaskSlot task = new TaskSlot(0, null, host, 0, pool, new AtomicInteger());
        task.transfer.begin(1, 0, bytes);
        return task;
    }

    @Test
    void writeGetsAllItsChunksOrNone() {
        TaskSlot large = task(2 * CHUNK + 1);
        TaskSlot tooLarge = task(CHUNK + 1);
        TaskSlot small = task(CHUNK);
        assertThat(pool.take(large)).isTrue();
        assertThat(pool.idleChunks()).isEqualTo(1);
        assertThat(pool.take(tooLarge)).isFalse();
        assertThat(pool.take(small)).isTrue();
        assertThat(pool.take(task(1))).isFalse();
        large.giveDeviceMemory();
        assertThat(pool.take(tooLarge)).isTrue();
        tooLarge.giveDeviceMemory();
        small.giveDeviceMemory();
    }

    @Test
    void returnedChunkIsFreeAfterTheDeviceOperationsInProgressHaveCompleted() {
        List<TaskSlot> tasks = new ArrayList<>();
        for (int i = 0; i < CHUNKS; i++) {
            tasks.add(task(CHUNK));
            assertThat(pool.take(tasks.get(i))).isTrue();
        }
        device.newest = 7;
        device.done = 3;
        tasks.get(0).giveDeviceMemory();
        device.newest = 9;
        tasks.get(1).giveDeviceMemory();
        TaskSlot next = task(CHUNK);
        assertThat(pool.take(next)).as("an operation may still read the chunk").isFalse();
        device.done = 7;
        assertThat(pool.take(task(2 * CHUNK))).as("the second chunk is not free").isFalse();
        assertThat(pool.take(next)).isTrue();
        device.done = 9;
        next.giveDeviceMemory();
        tasks.get(2).giveDeviceMemory();
        tasks.get(3).giveDeviceMemory();
        TaskSlot all = task(CHUNKS * CHUNK);
        assertThat(pool.take(all)).isTrue();
        all.giveDeviceMemory();
    }
}
