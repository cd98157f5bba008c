package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.fault.replica.BackupUnit;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ReplicateCommand;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.shard.UnitIdentities;
import io.modeldisk.server.unit.RawUnit;
import io.modeldisk.server.unit.StandbyUnit;
import io.modeldisk.server.unit.TrainUnit;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Checks that a reset of a unit needs the same right as a write to the unit. */
class ResetRightsTest {
    @AutoClose
    private ShardModel shard;
    private ModelFacts facts;

    @BeforeEach
    void open() throws Exception {
        shard = ShardModel.open(new ServerContext().consistency("asp")
            .model("m").sizeBytes(16384).blockSizeBytes(4096).aggregator("sum", new SumAggregator()));
        facts = shard.facts();
    }

    private static List<Right> rightsThatMayReset(LogicalUnit unit) {
        return Stream.of(Right.values())
            .filter(right -> unit.mayReset(new Nexus("iqn.test:a", 1, "iqn.test:t", "a", Set.of(right), null, null)))
            .toList();
    }

    @Test
    void resetOfATrainUnitNeedsTheLearnRight() {
        assertThat(rightsThatMayReset(shard.target().units().get(TrainUnit.LUN))).containsExactly(Right.LEARN);
        assertThat(rightsThatMayReset(StandbyUnit.train(facts, ValueType.FLOAT32, () -> 0)))
            .containsExactly(Right.LEARN);
    }

    @Test
    void resetOfTheRawUnitNeedsTheRawRight() {
        assertThat(rightsThatMayReset(shard.target().units().get(RawUnit.LUN))).containsExactly(Right.RAW);
        assertThat(rightsThatMayReset(new StandbyUnit.Disk(facts, RawUnit.LUN, RawUnit.PRODUCT, () -> 0)))
            .containsExactly(Right.RAW);
    }

    @Test
    void resetOfTheRecordsUnitNeedsTheReplicateRight() {
        BackupUnit records = new BackupUnit(UnitIdentities.of("m", 0, ReplicateCommand.LUN, "records"), facts, null);
        assertThat(rightsThatMayReset(records)).containsExactly(Right.REPLICATE);
    }
}
