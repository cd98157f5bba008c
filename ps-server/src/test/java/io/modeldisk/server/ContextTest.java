package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.server.fake.SumAggregator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class ContextTest {
    private static ServerContext sound() {
        return new ServerContext().model("m").sizeBytes(1 << 20).aggregator("sum", new SumAggregator());
    }

    private static void assertRefused(UnaryOperator<ServerContext> change, String message) {
        assertThatThrownBy(() -> change.apply(sound()).conclude())
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(message);
    }

    @Test
    void wrongSettingIsRefusedWithItsNameAndValue() {
        assertRefused(c -> c.blockSizeBytes(0), "blockSize=0 B must be a power of two from 4096 to 1 MiB");
        assertRefused(c -> c.blockSizeBytes(300 << 10), "blockSize=300 KiB must be a power of two from 4096 to 1 MiB");
        assertRefused(c -> c.blockSizeBytes(2 << 20), "blockSize=2 MiB must be");
        assertRefused(c -> c.blockSizeBytes(2048), "blockSize=2 KiB must be");
        assertRefused(c -> c.blockSizeBytes(Integer.MIN_VALUE), "must be a power of two");
        assertRefused(c -> c.shard(2).shards(2), "shard=2 must be from 0 to shards-1, which is 1");
        assertRefused(c -> c.shard(-1), "shard=-1 must be");
        assertRefused(c -> c.shards(0), "shards=0 must be from 1 to 65535");
        assertRefused(c -> c.model("Big"), "model=Big must have 1 to 64 characters of a-z");
        assertRefused(c -> c.model(null), "model=null must have");
        assertRefused(c -> c.model("x".repeat(65)), "must have 1 to 64");
        assertRefused(c -> c.learners(0), "learners=0 must be from 1");
        assertRefused(c -> c.learners(2).minLearners(3),
            "minLearners=3 must be from 0 to the number of learners, which is 2");
        assertRefused(c -> c.minLearners(-1), "minLearners=-1 must be from 0");
        assertRefused(c -> c.lease(Duration.ZERO), "lease=0s must be longer than 0s");
        assertRefused(c -> c.consistency("none"), "consistency=none must be asp, bsp or ssp:S");
        for (String none : List.of("ssp", "ssp:", "ssp:-1", "ssp:x", "ssp:1000001", "ssp:99999999999", "ssp:1\n")) {
            assertRefused(c -> c.consistency(none), "consistency=" + none
                + " must name the number of rounds that other learners may lag behind, from 0 to 1000000, such as ssp:3");
        }
        assertRefused(c -> c.aggregator(null, null), "aggregator=null must be a specification such as sgd:lr=0.1");
        assertRefused(c -> c.sizeBytes(5), "size=5 must be a positive multiple of 4");
        assertRefused(c -> c.safetensors(Path.of("x")),
            "size=1048576 and from=x exclude each other; give only one of them");
    }

    @Test
    void moreLearnersThanTheSessionLimitAllowsAreRefused() throws IOException {
        assertRefused(c -> c.learners(200), "learners=200 needs 400 sessions, because each mount has 2, but"
            + " --max-sessions is 288; set --max-sessions=400 or more");
        assertThat(sound().learners(144).conclude()).isNotNull();
    }

    @Test
    void stalenessIsShownWithoutLeadingZerosInTheConfiguration() throws IOException {
        assertThat(sound().consistency("ssp:007").conclude().facts().consistency()).isEqualTo("ssp:7");
        assertThat(sound().consistency("ssp:1000000").conclude().toString())
            .contains("consistency=ssp:1000000");
    }

    @Test
    void listeningOnAnExternalAddressRequiresSecretsOrTheInsecureOption() throws IOException {
        InetSocketAddress everywhere = new InetSocketAddress("0.0.0.0", 0);
        assertRefused(c -> c.listen(everywhere), "can be reached from other machines without authentication");
        ChapSecrets secrets = ChapSecrets.parse("peer learner aVeryLongSecretOfIts", "test");
        assertThat(sound().listen(everywhere)
            .network(network -> network.access(new AccessPolicy(secrets, false, List.of()))).conclude())
            .asString().contains("authentication=(CHAP, 1 peer)").doesNotContain("aVeryLongSecretOfIts");
        assertThat(sound().listen(everywhere)
            .network(network -> network.access(new AccessPolicy(null, true, List.of()))).conclude())
            .asString().contains("authentication=(none, insecure)");
    }

    @Test
    void peerListWithAShardAtTheWrongIndexIsRefused() throws IOException {
        InetSocketAddress first = new InetSocketAddress("127.0.0.1", 22001);
        InetSocketAddress second = new InetSocketAddress("127.0.0.1", 22002);
        assertRefused(c -> c.shards(2).portals(List.of(first)), "must list the addresses of all shards (2)");
        assertRefused(c -> c.shards(2).shard(1).listen(first).portals(List.of(first, second)),
            "127.0.0.1:22002 is listed for shard 1, but this shard listens on 127.0.0.1:22001");
        assertThat(sound().shards(2).shard(1).listen(second).portals(List.of(first, second)).conclude().toString())
            .contains("portals=[127.0.0.1:22001, 127.0.0.1:22002] portalGroupTag=2");
    }

    @Test
    void shardWithoutBlocksIsRefused() {
        assertRefused(c -> c.shard(4).shards(5).blockSizeBytes(256 << 10),
            "shard=4 would get no block: a model of 1048576 bytes has 4 blocks of 256 KiB; use shards=4 at most");
        assertRefused(c -> c.sizeBytes(4096).shard(1).shards(2),
            "shard=1 would get no block: a model of 4096 bytes has 1 block of 4 KiB; use shards=1 at most");
    }

    @Test
    void defaultBlocksAreSmallEnoughThatEachShardHasOne() throws IOException {
        assertThat(sound().shard(3).shards(4).conclude().facts().blockSizeBytes()).isEqualTo(256 << 10);
        assertThat(sound().shard(4).shards(5).conclude().facts().blockSizeBytes()).isEqualTo(128 << 10);
        assertThat(sound().sizeBytes(4100).shard(1).shards(2).conclude().facts().blockSizeBytes()).isEqualTo(4096);
    }

    @Test
    void shardLargerThanTheAddressRangeOfAPushIsRefused() {
        assertRefused(c -> c.sizeBytes((1L << 44) + 4096).blockSizeBytes(4096),
            "PUSH and PULL address at most 17592186044416 bytes (2^32 logical blocks); use more shards");
    }
}
