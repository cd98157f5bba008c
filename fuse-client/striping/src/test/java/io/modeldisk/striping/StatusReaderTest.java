package io.modeldisk.striping;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

final class StatusReaderTest {
    private static StatusReader reader(FakeShards shards) {
        return new StatusReader(new StripedModelContext(shards.address()).learner("reader"));
    }

    @Test
    void unreachableShardDoesNotHideTheOtherShards() throws Exception {
        try (FakeShards shards = FakeShards.of(1 << 20, 4096, 3)) {
            List<InetSocketAddress> portals = new ArrayList<>(shards.address().shards());
            portals.set(1, new InetSocketAddress("127.0.0.1", 1));
            try (StatusReader reader = new StatusReader(
                new StripedModelContext(new ModelAddress(portals, FakeShards.MODEL)).learner("reader"))) {
                List<StatusReader.Answer> answers = reader.readAll();
                assertThat(answers.get(0).report().facts().shard()).isZero();
                assertThat(answers.get(1).failure()).hasMessageContaining("shard 1 at 127.0.0.1:1");
                assertThat(answers.get(2).report().status().path("shard").asInt()).isEqualTo(2);
            }
        }
    }

    @Test
    void shardIsReadAgainAfterItWasRestarted() throws Exception {
        try (FakeShards shards = FakeShards.of(1 << 20, 4096, 2); StatusReader reader = reader(shards)) {
            ModelFacts facts = reader.read(0, null).facts();
            shards.restart(0);
            await("the shard is read again", () -> {
                try {
                    return reader.read(0, facts).facts().equals(facts);
                } catch (IOException e) {
                    return false;
                }
            });
        }
    }

    @Test
    void errorNamesTheShardThatAnAddressBelongsTo() throws Exception {
        try (FakeShards shards = FakeShards.of(1 << 20, 4096, 2); StatusReader reader = reader(shards)) {
            reader.readAll();
            shards.swap(0, 1);
            assertThatThrownBy(() -> reader.read(0, null)).isInstanceOf(IOException.class)
                .hasMessageContaining("serves shard 1 of model fake, but shard 0 was expected");
        }
    }

    @Test
    void shardOfAnotherModelIsReportedAndTheOthersAreRead() throws Exception {
        ModelFacts first = FakeShards.facts(1 << 20, 4096, 0, 2);
        ModelFacts other = FakeShards.facts(1 << 21, 4096, 1, 2);
        try (FakeShards shards = new FakeShards(UnaryOperator.identity(), first, other);
            StatusReader reader = reader(shards)) {
            List<StatusReader.Answer> answers = reader.readAll();
            assertThat(answers.get(0).failure()).isNull();
            assertThat(answers.get(1).failure())
                .hasMessageContaining("its size is 2097152, but at shard 0 it is 1048576");
        }
    }

    @Test
    void closedStatusReaderRefusesARead() throws Exception {
        try (FakeShards shards = FakeShards.of(1 << 20, 4096, 1)) {
            StatusReader reader = reader(shards);
            reader.readAll();
            reader.close();
            assertThatThrownBy(() -> reader.read(0, null)).hasMessage("the status reader is closed");
        }
    }
}
