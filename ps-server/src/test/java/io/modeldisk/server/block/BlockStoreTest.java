package io.modeldisk.server.block;

import static io.modeldisk.aggregator.device.GradientType.FLOAT32;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Roles;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class BlockStoreTest {
    private static final int BLOCK = 16 << 10;
    private static final int PAGE = 4096;
    private static final int SPARES = 2;
    private static final Nexus READER = FakeTask.nexus("reader");

    // The store has three full blocks and one block of a single logical block.
    @AutoClose
    private final BlockStore store = new BlockStore(new BlockLayout(3 * BLOCK + PAGE, BLOCK), SPARES, 0);
    private final SumAggregator sum = new SumAggregator();
    private final PieceVisitor<Void> add = (task, context, block, offset, data, dataOffset, length) -> {
        sum.aggregate(block.writable(), offset, data, dataOffset, length, 1);
        return true;
    };

    private void add(long offset, int lengthBytes, float value) {
        store.visit(new FakeTask(READER, offset, lengthBytes).fill(value), add, null, FLOAT32);
    }

    private Pin pin(FakeTask task, int dataOffset) {
        Pin pin = new Pin();
        store.pin(task, dataOffset, pin);
        return pin;
    }

    @Test
    void pinDoesNotExtendBeyondTheEndOfItsBlock() {
        FakeTask task = new FakeTask(READER, BLOCK - PAGE, 2 * BLOCK);
        assertThat(pin(task, 0).lengthBytes()).isEqualTo(PAGE);
        assertThat(pin(task, PAGE).lengthBytes()).isEqualTo(BLOCK);
        assertThat(pin(task, PAGE + BLOCK).lengthBytes()).isEqualTo(BLOCK - PAGE);
        assertThat(pin(new FakeTask(READER, 3L * BLOCK, PAGE), 0).lengthBytes()).isEqualTo(PAGE);
    }

    @Test
    void pinnedDataDoesNotChangeWhenTheBlockIsWritten() {
        add(0, BLOCK, 1);
        Pin before = pin(new FakeTask(READER, 0, BLOCK), 0);
        add(0, BLOCK, 1);
        Pin between = pin(new FakeTask(READER, 0, BLOCK), 0);
        add(PAGE, PAGE, 5);
        assertThat(Weights.uniform(before)).isEqualTo(1);
        assertThat(Weights.uniform(between)).isEqualTo(2);
        assertThat(Weights.at(store, 0)).isEqualTo(2);
        assertThat(Weights.at(store, PAGE)).isEqualTo(7);
    }

    @Test
    void writeToAnUnpinnedBlockKeepsItsMemorySlot() {
        long address = store.block(0).readable().weights().address();
        add(0, BLOCK, 1);
        assertThat(store.block(0).readable().weights().address()).isEqualTo(address);
        assertThat(store.spareCount()).isEqualTo(SPARES);
    }

    @Test
    void slotBecomesSpareWhenItsLastPinIsReleased() {
        Pin first = pin(new FakeTask(READER, 0, BLOCK), 0);
        Pin second = pin(new FakeTask(READER, 0, BLOCK), 0);
        add(0, BLOCK, 1);
        assertThat(store.spareCount()).isEqualTo(SPARES - 1);
        store.unpin(first);
        assertThat(store.spareCount()).isEqualTo(SPARES - 1);
        store.unpin(second);
        assertThat(store.spareCount()).isEqualTo(SPARES);
    }

    @Test
    void readCopiesTheDataWhenAllPermitsAreInUse() {
        FakeTask other = new FakeTask(READER, 0, BLOCK);
        pin(other, 0);
        pin(other, 0);
        add(BLOCK, BLOCK, 3);
        FakeTask task = new FakeTask(READER, BLOCK, BLOCK);
        Pin copy = pin(task, 0);
        add(BLOCK, BLOCK, 1);
        assertThat(copy.memory()).isSameAs(task.memory());
        assertThat(copy.offset()).isEqualTo(task.scratchOffset());
        assertThat(Weights.uniform(copy)).isEqualTo(3);
        store.unpin(copy);
    }

    @Test
    void lastBlockKeepsItsShortLengthInASpareSlot() {
        Pin pin = pin(new FakeTask(READER, 3L * BLOCK, PAGE), 0);
        add(3L * BLOCK, PAGE, 1);
        assertThat(store.block(3).readable().weights().byteSize()).isEqualTo(PAGE);
        store.unpin(pin);
        pin(new FakeTask(READER, 0, BLOCK), 0);
        add(0, BLOCK, 1);
        assertThat(store.block(0).readable().weights().byteSize()).isEqualTo(BLOCK);
    }

    @Test
    void visitorReceivesEachPieceAndEachChangedBlock() {
        List<String> visits = new ArrayList<>();
        PieceVisitor<Void> recorder = new PieceVisitor<>() {
            @Override
            public boolean piece(
                IoTask task, Void context, Block block, int offset, MemorySegment data, long dataOffset,
                int lengthBytes) {
                visits.add(block.index() + ":" + offset / PAGE + "+" + lengthBytes / PAGE + "@" + dataOffset / PAGE);
                return block.index() != 1;
            }

            @Override
            public void visited(Block block) {
                visits.add("end " + block.index());
            }
        };
        store.visit(new FakeTask(READER, BLOCK - PAGE, 2 * PAGE, PAGE, 3 * PAGE), recorder, null, FLOAT32);
        assertThat(visits).containsExactly("0:3+1@0", "end 0", "1:0+1@1", "1:1+1@2", "1:2+2@3", "2:0+1@5",
            "end 2");
    }

    @Test
    void blockStateHasTheSizeThatTheAggregatorRequests() {
        try (BlockStore stateful = new BlockStore(new BlockLayout(BLOCK + PAGE, BLOCK), SPARES, 2 * PAGE + 8)) {
            assertThat(stateful.block(0).readable().state().byteSize()).isEqualTo(2L * BLOCK + BLOCK / PAGE * 8);
            assertThat(stateful.block(1).readable().state().byteSize()).isEqualTo(2L * PAGE + 8);
            assertThat(store.block(0).readable().state().byteSize()).isZero();
        }
    }

    @Test
    void pinnedDataIsNeverTornByConcurrentWrites() throws Exception {
        List<Callable<Void>> roles = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            int seed = t;
            roles.add(() -> readAtRandom(seed));
            roles.add(() -> writeAtRandom(seed));
        }
        Roles.runAll(roles);
        assertThat(store.spareCount()).isEqualTo(SPARES);
        float total = 0;
        for (int i = 0; i < 4; i++) {
            total += store.block(i).readable().weights().get(ValueLayout.JAVA_FLOAT, 0);
        }
        assertThat(total).isEqualTo(3 * 3000);
    }

    private Void writeAtRandom(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        FakeTask[] writes = new FakeTask[4];
        for (int i = 0; i < writes.length; i++) {
            writes[i] = new FakeTask(READER, (long) i * BLOCK, store.block(i).lengthBytes()).fill(1);
        }
        for (int i = 0; i < 3000; i++) {
            store.visit(writes[random.nextInt(writes.length)], add, null, FLOAT32);
        }
        return null;
    }

    private Void readAtRandom(int seed) {
        SplittableRandom random = new SplittableRandom(100 + seed);
        FakeTask task = new FakeTask(READER, 0, 3 * BLOCK + PAGE);
        FakeTask scratch = new FakeTask(READER, 0, 3 * BLOCK + PAGE);
        for (int i = 0; i < 3000; i++) {
            Pin first = pin(task, random.nextInt(4) * BLOCK);
            Pin second = pin(scratch, random.nextInt(4) * BLOCK);
            float seen = Weights.uniform(first);
            Weights.uniform(second);
            assertThat(Weights.uniform(first)).isEqualTo(seen);
            store.unpin(first);
            store.unpin(second);
        }
        return null;
    }
}
