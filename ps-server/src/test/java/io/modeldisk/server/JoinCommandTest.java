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
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class JoinCommandTest {
    private static final int BLOCK = 4096;

    private final ServerContext context = new ServerContext().model("test").blockSizeBytes(BLOCK).sizeBytes(2 * BLOCK)
        .aggregator("sum", new SumAggregator()).consistency("bsp").learners(1);
    @AutoClose
    private ShardModel shard;
    private LogicalUnit train;

    private void open(String... learners) throws IOException {
        shard = ShardModel.open(context);
        train = shard.target().units().get(0);
        List.of(learners).forEach(learner -> shard.target().nexusEstablished(FakeTask.nexus(learner)));
    }

    private long join(String learner, long earliestRound) throws ScsiException {
        Cdb cdb = new Cdb();
        ByteBuffer.wrap(cdb.bytes()).put(0, (byte) JoinCommand.OPCODE).putLong(2, earliestRound);
        return ByteBuffer.wrap(train.vendorCommand(FakeTask.nexus(learner), cdb)).getLong();
    }

    @Test
    void pullThatWaitsWhileTheJobFormsIsResumedByTheJoinThatFormsIt() throws Exception {
        context.consistency("ssp:0").learners(2);
        open("a", "b");
        // The shard continues from a checkpoint of round 10. A learner pulls the weights of that round.
        shard.learners().resumeAfter(10);
        assertThat(join("a", 0)).isEqualTo(11);
        FakeTask pull = new FakeTask(FakeTask.nexus("a"), 0, 2 * BLOCK).ofRound(10);
        assertThat(train.admitRead(pull)).isFalse();
        assertThat(join("b", 0)).isEqualTo(11);
        assertThat(pull.resumes()).isEqualTo(1);
        assertThat(train.admitRead(pull)).isTrue();
    }

    @Test
    void joinAtADistantRoundSkipsAllEarlierRounds() throws Exception {
        open("a");
        long far = 1L << 40;
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> join("a", far));
        assertThat(shard.consistency().rounds(1)).isEqualTo(far - 1);
        train.write(new FakeTask(FakeTask.nexus("a"), 0, 2 * BLOCK));
        assertThat(shard.consistency().rounds(1)).isEqualTo(far);
    }

    @Test
    void joinAtARoundAboveTheLimitIsRefused() throws Exception {
        open("a");
        assertThatThrownBy(() -> join("a", -1)).isInstanceOf(ScsiException.class);
    }

    private byte[] join(int flags, int reservedByte) throws ScsiException {
        Cdb cdb = new Cdb();
        ByteBuffer.wrap(cdb.bytes()).put(0, (byte) JoinCommand.OPCODE).put(1, (byte) flags);
        if (reservedByte > 0) {
            cdb.bytes()[reservedByte] = 1;
        }
        JoinCommand.USAGE.check(cdb);
        return train.vendorCommand(FakeTask.nexus("a"), cdb);
    }

    @Test
    void joinReplacesAnExistingMembershipOnlyIfTheAnewBitIsSet() throws Exception {
        open("a");
        byte[] first = join(0, 0);
        assertThat(first).hasSize(32);
        assertThat(join(0, 0)).isEqualTo(first);
        byte[] anew = join(1, 0);
        assertThat(ByteBuffer.wrap(anew).getLong(0)).isEqualTo(1);
        assertThat(ByteBuffer.wrap(anew).getLong(8)).isNotEqualTo(ByteBuffer.wrap(first).getLong(8)).isNotZero();
        assertThat(shard.learners().roster().members()).hasSize(1);
    }

    @Test
    void joinWithAReservedBitIsRefusedWithTheByteOffsetOfTheBit() throws Exception {
        open("a");
        assertThatThrownBy(() -> join(2, 0)).isInstanceOfSatisfying(ScsiException.class,
            e -> assertThat(e.sense().field()).isEqualTo(1));
        for (int at = 10; at < 16; at++) {
            int reserved = at;
            assertThatThrownBy(() -> join(0, reserved)).isInstanceOfSatisfying(ScsiException.class,
                e -> assertThat(e.sense().field()).isEqualTo(reserved));
        }
        assertThatThrownBy(() -> join("a", 1L << 48)).isInstanceOfSatisfying(ScsiException.class,
            e -> assertThat(e.sense().field()).isEqualTo(2));
        assertThat(shard.learners().roster().members()).isEmpty();
    }

    @Test
    void rawUnitHasNoVendorCommands() throws Exception {
        open();
        assertThat(shard.target().units().get(0).vendorCommands()).containsExactly(JoinCommand.USAGE,
            RoundCdb.PUSH_USAGE, RoundCdb.PULL_USAGE, PartitionCommand.USAGE, CheckpointCommand.USAGE,
            HandOverCommand.USAGE, AwaitCommand.USAGE, KeepRoundCommand.USAGE, TensorsCommand.USAGE,
            LearningRateCommand.USAGE, AbsentCommand.USAGE);
        assertThat(shard.target().units().get(1).vendorCommands()).isEmpty();
    }

    @Test
    void unitsOf16BitTypesDoNotSupportKeepRound() throws Exception {
        context.blockSizeBytes(2 * BLOCK);
        open();
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
