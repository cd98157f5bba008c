package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ServiceMessages;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests the notifications that shards, mounts and coordinators send to the service manager. The watchdog interval is one second.
 */
@Timeout(120)
final class ServiceIT {
    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Running start(String name, Path socket, Object... command) throws Exception {
        return sandbox.start(name,
            Map.of("NOTIFY_SOCKET", socket.toString(), "WATCHDOG_USEC", "1000000"), modeldisk(command));
    }

    private static void stops(Running process, ServiceMessages messages) throws Exception {
        process.signal("TERM");
        messages.awaitMessage("STOPPING=1");
        process.awaitEnd();
    }

    @Test
    void shardNotifiesSystemdOfReadinessAndProgress() throws Exception {
        Path socket = sandbox.path("notify");
        try (ServiceMessages messages = ServiceMessages.at(socket.toString())) {
            Running shard = start("shard", socket, "serve", "--model", "m", "--size", "1MiB", "--listen",
                "127.0.0.1:0");
            assertThat(messages.next()).startsWith("READY=1\nMAINPID=" + shard.process().pid() + "\nSTATUS=shard 0/1");
            assertThat(messages.awaitMessage("; version 0, round 0, 0 learners")).startsWith("WATCHDOG=1");
            stops(shard, messages);
        }
    }

    @Test
    @Tag("mount")
    void mountNotifiesSystemdOfTheIterationsOfItsLearner() throws Exception {
        Programs.requireMounting();
        Shards shards = Command.serveAll(sandbox, "m", 1, "--size", "1MiB");
        Path directory = sandbox.directory("mounted");
        Path socket = sandbox.path("notify");
        try (ServiceMessages messages = ServiceMessages.at(socket.toString())) {
            Running mount = start("mount", socket, "mount", shards.address(), directory, "--foreground");
            assertThat(messages.next()).contains("READY=1", "mounted on " + directory);
            sandbox.run("/bin/dd", "if=/dev/zero", "of=" + directory.resolve("model"), "bs=1M", "count=1",
                "conv=notrunc,fsync").succeeded();
            assertThat(messages.awaitMessage("; 1 iteration")).contains("WATCHDOG=1");
            stops(mount, messages);
        }
    }

    @Test
    void coordinatorNotifiesSystemdOfItsConnections() throws Exception {
        Path socket = sandbox.path("notify");
        try (ServiceMessages messages = ServiceMessages.at(socket.toString())) {
            Running coordinator = start("coordinator", socket, "coordinator", "--listen", "127.0.0.1:0", "--state",
                sandbox.path("zk"));
            assertThat(messages.next()).contains("READY=1", "STATUS=coordinator on 127.0.0.1:");
            assertThat(messages.awaitMessage("WATCHDOG=1")).contains("; 0 connections");
            stops(coordinator, messages);
        }
    }
}
