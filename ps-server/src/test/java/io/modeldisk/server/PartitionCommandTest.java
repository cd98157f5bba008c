package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.Partition;
import io.modeldisk.protocol.dialect.PartitionCommand;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.unit.TrainUnit;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartitionCommandTest {
    private static final int BLOCK = 4096;
    private static final int SIZE = 2 * BLOCK;

    private static ServerContext context(int learners) {
        return new ServerContext().model("test").blockSizeBytes(BLOCK).sizeBytes(SIZE)
            .aggregator("sum", new SumAggregator()).consistency("asp").learners(learners);
    }

    private static String ask(ShardModel shard, String learner, String cdb) throws ScsiException {
        Cdb command = new Cdb();
        byte[] bytes = HexFormat.ofDelimiter(" ").parseHex(cdb);
        System.arraycopy(bytes, 0, command.bytes(), 0, bytes.length);
        PartitionCommand.USAGE.check(command);
        return HexFormat.of().formatHex(
            shard.target().units().get(TrainUnit.LUN).vendorCommand(FakeTask.nexus(learner), command));
    }

    @Test
    void partitionReturnsTheRankTheNumberOfPartsAndTheEpoch() throws Exception {
        try (ShardModel shard = ShardModel.open(context(3))) {
            shard.learners().admit(FakeTask.nexus("a"), false);
            shard.learners().admit(FakeTask.nexus("b"), false);
            assertThat(ask(shard, "b", "C3 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00"))
                .isEqualTo("00000001" + "00000003" + "0000000000000001");
        }
    }

    @Test
    void nexusThatIsNotALearnerHasNoRank() throws Exception {
        try (ShardModel shard = ShardModel.open(context(1))) {
            assertThat(ask(shard, "a", "C3 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00"))
                .isEqualTo("ffffffff" + "00000000" + "0000000000000000");
        }
    }

    @Test
    void refusedPartitionRequestForADistantRoundDoesNotPostponeNewcomers() throws Exception {
        try (ShardModel shard = ShardModel.open(context(1))) {
            shard.learners().admit(FakeTask.nexus("a"), false);
            assertThatThrownBy(() -> ask(shard, "a", "C3 00 00 00 00 00 00 00 FF FF FF FF FF FF 00 00"))
                .isInstanceOf(ScsiException.class)
                .hasMessageContaining("which is too far ahead of the rounds that learners have begun");
            assertThat(shard.learners().admit(FakeTask.nexus("b"), false).joinRound()).isEqualTo(1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"round 0, C3 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00, 8",
        "a logical block address, C3 00 00 00 00 01 00 00 00 00 00 00 00 01 00 00, 5"})
    void partitionWithAWrongFieldIsRefusedWithTheByteOffsetOfTheField(String wrong, String cdb, int offset)
        throws Exception {
        try (ShardModel shard = ShardModel.open(context(1))) {
            assertThatThrownBy(() -> ask(shard, "a", cdb)).as(wrong)
                .isInstanceOfSatisfying(ScsiException.class, e -> assertThat(e.sense().field()).isEqualTo(offset));
        }
    }

    private static StripedModel learner(ParameterServer server, String label) throws IOException {
        StripedModel model = StripedModel.connect(new StripedModelContext(
            ModelAddress.parse("modeldisk://127.0.0.1:" + server.localAddress().getPort() + "/test")).learner(label));
        model.join();
        return model;
    }

    @Test
    void remainingLearnerGetsAllDataAfterTheLastRoundWhosePartitionWasRead() throws Exception {
        try (ParameterServer server = ParameterServer.launch(
            context(2).listen(new InetSocketAddress("127.0.0.1", 0)));
            DataMemory memory = DataMemory.allocate(SIZE);
            StripedModel remaining = learner(server, "remaining")) {
            StripedModel leaving = learner(server, "leaving");
            assertThat(remaining.nextRound()).isEqualTo(1);
            remaining.push(0, memory, 0, SIZE, Cancellation.NONE);
            assertThat(remaining.nextRound()).isEqualTo(2);
            assertThat(remaining.partition(2, Cancellation.NONE)).isEqualTo(new Partition(2, 0, 2, 1));
            assertThat(leaving.partition(1, Cancellation.NONE)).isEqualTo(new Partition(1, 1, 2, 1));
            leaving.close();
            await("the learner has left", () -> remaining.counters().learners() == 1);
            assertThat(remaining.partition(2, Cancellation.NONE)).isEqualTo(new Partition(2, 0, 2, 1));
            assertThat(remaining.partition(3, Cancellation.NONE)).isEqualTo(new Partition(3, 0, 1, 2));
        }
    }
}
