package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.DiskUnit;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.server.unit.RawUnit;
import io.modeldisk.server.unit.TrainUnit;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the commands that only the raw unit has. */
class RawUnitTest {
    private static final int LOGICAL_BLOCK = 4096;
    private static final int BLOCK = 4 * LOGICAL_BLOCK;

    private final DataMemory memory = DataMemory.allocate(LOGICAL_BLOCK);
    private ShardModel shard;
    private DiskUnit raw;

    @BeforeEach
    void open() throws Exception {
        shard = ShardModel.open(new ServerContext().consistency("asp")
            .model("m").sizeBytes(4 * BLOCK).blockSizeBytes(BLOCK).aggregator("sum", new SumAggregator()));
        raw = (DiskUnit) shard.target().units().get(RawUnit.LUN);
    }

    @AfterEach
    void close() {
        shard.close();
        memory.close();
    }

    private MemorySegment ones() {
        MemorySegment block = memory.segment(0, LOGICAL_BLOCK);
        Weights.fill(block, 1);
        return block;
    }

    private static FakeTask task(long offset, int... pieces) {
        return new FakeTask(FakeTask.nexus("a"), offset, pieces);
    }

    @Test
    void trainUnitHasNoDiskCommands() {
        LogicalUnit train = shard.target().units().get(TrainUnit.LUN);
        assertThat(train).isNotInstanceOf(DiskUnit.class);
    }

    @Test
    void fillChangesOnlyTheGivenRange() throws Exception {
        raw.fill(null, LOGICAL_BLOCK, 2 * LOGICAL_BLOCK, ones());
        assertThat(raw.firstDifference(task(0, LOGICAL_BLOCK))).isEqualTo(-1);
        assertThat(raw.firstDifference(task(LOGICAL_BLOCK, 2 * LOGICAL_BLOCK).fill(1))).isEqualTo(-1);
        assertThat(raw.firstDifference(task(3 * LOGICAL_BLOCK, LOGICAL_BLOCK))).isEqualTo(-1);
        raw.fill(null, LOGICAL_BLOCK, LOGICAL_BLOCK, null);
        assertThat(raw.firstDifference(task(0, 2 * LOGICAL_BLOCK))).isEqualTo(-1);
    }

    @Test
    void firstDifferenceIsFoundInDataOfSeveralPiecesAndBlocks() throws Exception {
        raw.write(task(0, 4 * BLOCK).fill(1));
        raw.fill(null, 2 * BLOCK + LOGICAL_BLOCK, LOGICAL_BLOCK, null);
        FakeTask whole = task(LOGICAL_BLOCK, BLOCK, LOGICAL_BLOCK, 2 * BLOCK).fill(1);
        // The float 1.0 is stored as the bytes 00 00 80 3F, so the first difference from 0.0 is in the third byte.
        assertThat(raw.firstDifference(whole)).isEqualTo(2 * BLOCK + 2);
    }

    @Test
    void offsetOfTheFirstDifferenceIsRelativeToTheComparedRange() throws Exception {
        raw.write(task(0, BLOCK).fill(1));
        assertThat(raw.firstDifference(0, BLOCK, ones())).isEqualTo(-1);
        raw.fill(null, 3 * LOGICAL_BLOCK, LOGICAL_BLOCK, null);
        assertThat(raw.firstDifference(LOGICAL_BLOCK, 3 * LOGICAL_BLOCK, ones())).isEqualTo(2 * LOGICAL_BLOCK + 2);
    }

    @Test
    void fillDoesNotChangePinnedData() throws Exception {
        Pin pin = new Pin();
        FakeTask read = task(0, LOGICAL_BLOCK);
        raw.pin(read, 0, pin);
        raw.fill(null, 0, BLOCK, ones());
        assertThat(
            pin.memory().segment(pin.offset(), LOGICAL_BLOCK).mismatch(MemorySegment.ofArray(new byte[LOGICAL_BLOCK])))
            .isEqualTo(-1);
        raw.unpin(pin);
        assertThat(shard.store().spareCount()).isPositive();
    }
}
