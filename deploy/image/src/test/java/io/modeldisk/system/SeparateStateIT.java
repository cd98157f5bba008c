package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.striping.StripedModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests shards of one model whose {@code --state} directories differ, so they cannot save a complete checkpoint. */
@Timeout(240)
final class SeparateStateIT {
    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Running start(int shard, Object... options) throws Exception {
        return Command.serve(sandbox, "--model", "m", "--shard", shard + "/2", "--size", "1MiB", options);
    }

    private void isRefused(Shards shards, String difference) {
        assertThatThrownBy(() -> StripedModel.connect(shards.context()).close())
            .hasMessage("shard 1 at 127.0.0.1:" + shards.ports().get(1) + " " + difference
                + "; stop all shards of model m, and start them with one shared directory, such as one on NFS, as"
                + " --state, or all without");
    }

    @Test
    void learnersRefuseShardsWithDifferentStateDirectories() throws Exception {
        Shards shards = Command.ready("m",
            List.of(start(0, "--state", sandbox.path("a")), start(1, "--state", sandbox.path("b"))));
        isRefused(shards, "has a different --state directory than shard 0");
        assertThat(sandbox.run(modeldisk("status", shards.address())).succeeded()).contains(
            "have different directories in --state, or only some have one, so no checkpoint is ever complete");
    }

    @Test
    void learnersRefuseShardsWithCopiesOfOneStateDirectory() throws Exception {
        for (String name : List.of("a", "b")) {
            Path directory = Files.createDirectory(sandbox.path(name));
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
            Path identity = Files.writeString(directory.resolve("identity"), "0123456789abcdef".repeat(2) + "\n");
            Files.setPosixFilePermissions(identity, PosixFilePermissions.fromString("rw-------"));
        }
        Shards shards = Command.ready("m",
            List.of(start(0, "--state", sandbox.path("a")), start(1, "--state", sandbox.path("b"))));
        isRefused(shards, "has a different --state directory than shard 0");
    }

    @Test
    void learnersRefuseShardsIfOnlyOneHasAStateDirectory() throws Exception {
        Shards shards = Command.ready("m", List.of(start(0, "--state", sandbox.path("a")), start(1)));
        isRefused(shards, "has no --state, but shard 0 has one");
    }

    @Test
    void waitingBspShardReportsItsStateDirectory() throws Exception {
        Running first = start(0, "--consistency", "bsp", "--state", sandbox.path("a"));
        start(1, "--consistency", "bsp", "--state", sandbox.path("b"));
        await("the shard waits", () -> first.output().contains(
            "waits until shard 1 has started with the same --state " + sandbox.path("a") + ", at most 5 min"));
    }
}
