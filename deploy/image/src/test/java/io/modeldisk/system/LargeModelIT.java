package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.striping.StripedModel;
import io.modeldisk.test.NetworkPath;
import io.modeldisk.test.NetworkPath.State;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests a shard with many blocks and many learners. */
@Timeout(180)
final class LargeModelIT {
    private static final int BLOCK = 4096;
    private static final int LEARNERS = 64;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    @Test
    void shardOfAMillionBlocksServes64LearnersOrReportsTooLittleMemory() throws Exception {
        Running shard = Command.serve(sandbox, "--model", "m", "--size", "4GiB", "--block-size", BLOCK, "--consistency",
            "bsp", "--learners", LEARNERS, "--lease", "10min");
        await("the shard is ready or refuses to start",
            () -> !shard.process().isAlive() || shard.output().contains("ready: "));
        if (shard.process().isAlive()) {
            joinAll(new Shards("m", List.of(Command.port(shard))));
        } else {
            assertThat(shard.awaitEnd()).as(shard.output()).isPositive();
            assertThat(shard.output()).doesNotContain("Exception", "OutOfMemoryError").containsAnyOf("memory", "heap");
        }
    }

    /**
     * Joins all learners, one after another. Each learner disconnects without leaving the training, because the heap of this JVM
     * is too small for 64 connected learners.
     */
    private void joinAll(Shards shards) throws Exception {
        NetworkPath path = sandbox.closeAfterwards(new NetworkPath(shards.ports().getFirst()));
        Shards throughPath = new Shards("m", List.of(path.port()));
        for (int i = 0; i < LEARNERS; i++) {
            try (StripedModel model = StripedModel.connect(throughPath.context().learner("learner-" + i))) {
                model.join();
                path.state(State.DOWN);
            }
            path.state(State.UP);
        }
        assertThat(sandbox.run(modeldisk("status", shards.address())).succeeded()).contains("learner-0",
            "learner-" + (LEARNERS - 1));
    }
}
