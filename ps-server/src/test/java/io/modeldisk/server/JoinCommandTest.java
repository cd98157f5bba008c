package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.modeldisk.protocol.dialect.AbsentCommand;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.CheckpointCommand;
import io.modeldisk.protocol.dialect.HandOverCommand;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.KeepRoundCommand;
import io.modeldisk.protocol.dialect.LearningRateCommand;
import io.modeldisk.protocol.dialect.PartitionCommand;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.dialect.TensorsCommand;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class JoinCommandTest {
    private static final int BLOCK = 4096;

    private static ShardModel shard() throws Exception {
        return ShardModel.open(new ServerContext().model("test").blockSizeBytes(BLOCK).sizeBytes(2 * BLOCK)
            .aggregator("sum", new SumAggregator()).consistency("bsp").learners(1));
    }

    private static long join(LogicalUnit unit, String learner, long earliestRound) throws ScsiException {
        Cdb cdb = new Cdb();
        ByteBuffer.wrap(cdb.bytes()).put(0, (byte) JoinCommand.OPCODE).putLong(2, earliestRound);
        return ByteBuffer.wrap(unit.vendorCommand(FakeTask.nexus(learner), cdb)).getLong();
    }

    private static void connect(ShardModel shard, String... learners) {
        List.of(learners).forEach(learner -> shard.target().nexusEstablished(FakeTask.nexus(learner)));
    }

    private static boolean push(LogicalUnit unit, String learner) throws ScsiException {
        return unit.write(new FakeTask(FakeTask.nexus(learner), 0, 2 * BLOCK));
    }

    @Test
    void pullThatWaitsWhileTheJobFormsIsResumedByTheJoinThatFormsIt() throws Exception {
        try (ShardModel shard = ShardModel.open(new ServerContext().model("test").blockSizeBytes(BLOCK)
            .sizeBytes(2 * BLOCK).aggregator("sum", new SumAggregator()).consistency("ssp:0").learners(2))) {
            // The shard continues from a checkpoint of round 10, whose weights a learner pulls.
            shard.learners().resumeAfter(10);
            connect(shard, "a", "b");
            LogicalUnit train = shard.target().units().get(0);
            assertThat(join(train, "a", 0)).isEqualTo(11);
            FakeTask pull = new FakeTask(FakeTask.nexus("a"), 0, 2 * BLOCK).ofRound(10);
            assertThat(train.admitRead(pull)).isFalse();
            assertThat(join(train, "b", 0)).isEqualTo(11);
            assertThat(pull.resumes()).isEqualTo(1);
            assertThat(train.admitRead(pull)).isTrue();
        }
    }

    @Test
    void joinAtADistantRoundSkipsAllEarlierRounds() throws Exception {
        try (ShardModel shard = shard()) {
            connect(shard, "a");
            LogicalUnit train = shard.target().units().get(0);
            long far = 1L << 40;
            assertTimeoutPreemptively(Duration.ofSeconds(10), () -> join(train, "a", far));
            assertThat(shard.consistency().rounds(1)).isEqualTo(far - 1);
            push(train, "a");
            assertThat(shard.consistency().rounds(1)).isEqualTo(far);
        }
    }

    @Test
    void joinAtARoundAboveTheLimitIsRefused() throws Exception {
        try (ShardModel shard = shard()) {
            connect(shard, "a");
            LogicalUnit train = shard.target().units().get(0);
            assertThatThrownBy(() -> join(train, "a", -1)).isInstanceOf(ScsiException.class);
        }
    }

    private static byte[] join(LogicalUnit unit, int flags, int reservedByte) throws ScsiException {
        Cdb cdb = new Cdb();
        ByteBuffer.wrap(cdb.bytes()).put(0, (byte) JoinCommand.OPCODE).put(1, (byte) flags);
        if (reservedByte > 0) {
            cdb.bytes()[reservedByte] = 1;
        }
        JoinCommand.USAGE.check(cdb);
        return unit.vendorCommand(FakeTask.nexus("a"), cdb);
    }

    @Test
    void joinReplacesAnExistingMembershipOnlyIfTheAnewBitIsSet() throws Exception {
        try (ShardModel shard = shard()) {
            connect(shard, "a");
            LogicalUnit train = shard.target().units().get(0);
            byte[] first = join(train, 0, 0);
            assertThat(first).hasSize(32);
            assertThat(join(train, 0, 0)).isEqualTo(first);
            byte[] anew = join(train, 1, 0);
            assertThat(ByteBuffer.wrap(anew).getLong(0)).isEqualTo(1);
            assertThat(ByteBuffer.wrap(anew).getLong(8)).isNotEqualTo(ByteBuffer.wrap(first).getLong(8)).isNotZero();
            assertThat(shard.learners().roster().members()).hasSize(1);
        }
    }

    @Test
    void joinWithAReservedBitIsRefusedWithTheByteOffsetOfTheBit() throws Exception {
        try (ShardModel shard = shard()) {
            connect(shard, "a");
            LogicalUnit train = shard.target().units().get(0);
            assertThatThrownBy(() -> join(train, 2, 0)).isInstanceOfSatisfying(ScsiException.class,
                e -> assertThat(e.sense().field()).isEqualTo(1));
            for (int at = 10; at < 16; at++) {
                int reserved = at;
                assertThatThrownBy(() -> join(train, 0, reserved)).isInstanceOfSatisfying(ScsiException.class,
                    e -> assertThat(e.sense().field()).isEqualTo(reserved));
            }
            assertThatThrownBy(() -> join(train, "a", 1L << 48)).isInstanceOfSatisfying(ScsiException.class,
                e -> assertThat(e.sense().field()).isEqualTo(2));
            assertThat(shard.learners().roster().members()).isEmpty();
        }
    }

    @Test
    void rawUnitHasNoVendorCommands() throws Exception {
        try (ShardModel shard = shard()) {
            assertThat(shard.target().units().get(0).vendorCommands()).containsExactly(JoinCommand.USAGE,
                RoundCdb.PUSH_USAGE, RoundCdb.PULL_USAGE, PartitionCommand.USAGE, CheckpointCommand.USAGE,
                HandOverCommand.USAGE, AwaitCommand.USAGE, KeepRoundCommand.USAGE, TensorsCommand.USAGE,
                LearningRateCommand.USAGE, AbsentCommand.USAGE);
            assertThat(shard.target().units().get(1).vendorCommands()).isEmpty();
        }
    }

    @Test
    void unitsOf16BitTypesKeepNoRounds() throws Exception {
        try (ShardModel shard = ShardModel.open(new ServerContext().model("test").blockSizeBytes(2 * BLOCK)
            .sizeBytes(2 * BLOCK).aggregator("sum", new SumAggregator()).consistency("bsp").learners(1))) {
            for (LogicalUnit unit : shard.target().units()) {
                if (unit.valueType() != ValueType.FLOAT32) {
                    assertThat(unit.vendorCommands()).contains(JoinCommand.USAGE, TensorsCommand.USAGE)
                        .doesNotContain(KeepRoundCommand.USAGE);
                }
            }
            assertThat(shard.target().units()).extracting(LogicalUnit::valueType)
                .contains(ValueType.BFLOAT16, ValueType.FLOAT16);
        }
    }
}
