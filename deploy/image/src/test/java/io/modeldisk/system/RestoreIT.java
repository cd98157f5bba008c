package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the commands of "Copy and restore" in docs/operations.md, with the addresses and directories of the test. */
@Timeout(300)
final class RestoreIT {
    private static final Path PAGE = Path.of(System.getProperty("project.root"), "docs", "operations.md");
    private static final int MIB = 1 << 20;
    private static final List<Integer> DOCUMENTED_PORTS = List.of(3260, 3261, 3262);

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();
    private List<Integer> ports;

    private List<String> commands() throws Exception {
        String page = Files.readString(PAGE);
        String section = page.substring(page.indexOf("## Copy and restore"), page.indexOf("## Upgrade"));
        List<String> commands = new ArrayList<>();
        Matcher blocks = Pattern.compile("(?ms)^```sh\\n(.*?)^```").matcher(section);
        while (blocks.find()) {
            blocks.group(1).lines().forEach(commands::add);
        }
        return commands;
    }

    /** Returns a documented command with its ports and directories replaced by those of the test. */
    private String own(String command) {
        String changed = command.replace("/copies", sandbox.path("copies").toString())
            .replace("/srv", sandbox.path("srv").toString());
        for (int i = 0; i < ports.size(); i++) {
            changed = changed.replace("127.0.0.1:" + DOCUMENTED_PORTS.get(i), "127.0.0.1:" + ports.get(i));
        }
        return changed.replaceFirst("(^|\\()modeldisk ", "$1" + Matcher.quoteReplacement(modeldisk()[0] + " "));
    }

    private byte[] weights(String address, String name) throws Exception {
        Path directory = sandbox.directory(name);
        sandbox.run(modeldisk("mount", address, directory)).succeeded();
        byte[] weights = Files.readAllBytes(directory.resolve("weights"));
        sandbox.run(modeldisk("unmount", directory)).succeeded();
        return weights;
    }

    @Test
    @Tag("mount")
    void documentedCommandsRestoreTheWeightsFromTheCopy() throws Exception {
        Programs.requireMounting();
        ports = Command.freePorts(DOCUMENTED_PORTS.size());
        String model = "modeldisk://127.0.0.1:" + ports.get(0) + ",127.0.0.1:" + ports.get(1) + "/digits";
        List<Running> shards = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            shards.add(sandbox.start("first",
                modeldisk("serve", "--model", "digits", "--size", "4MiB", "--shard", i + "/2",
                    "--listen", "127.0.0.1:" + ports.get(i), "--state", sandbox.path("state"), "--checkpoint-every",
                    "1h")));
        }
        for (Running shard : shards) {
            shard.awaitLine("ready: ");
        }
        byte[] saved = new byte[4 * MIB];
        // The weights must be finite, because serve --from refuses others.
        FloatBuffer values = ByteBuffer.wrap(saved).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        Random random = new Random(7);
        while (values.hasRemaining()) {
            values.put(random.nextFloat());
        }
        Path directory = sandbox.directory("first");
        sandbox.run(modeldisk("mount", model, directory)).succeeded();
        Path file = Files.write(sandbox.path("saved"), saved);
        sandbox.shell("dd if=$1 of=$2/weights bs=1M conv=notrunc,fsync", file, directory).succeeded();

        for (String command : commands()) {
            if (!command.startsWith("modeldisk serve ")) {
                sandbox.shell(own(command)).succeeded();
                continue;
            }
            if (command.contains("--shard 0/2")) {
                // The restored weights must not contain these changes, which are made after the copy.
                sandbox.shell("dd if=/dev/urandom of=$1/weights bs=1M count=4 conv=notrunc,fsync", directory)
                    .succeeded();
                sandbox.run(modeldisk("unmount", directory)).succeeded();
                for (Running shard : shards) {
                    shard.signal("TERM");
                    shard.awaitEnd();
                }
                shards.clear();
            }
            Running started = sandbox.start("restored", (Object[]) own(command).split(" "));
            shards.add(started);
            // Shards that load the same checkpoint wait for each other, so the test does not wait for shard 0 before it starts
            // shard 1.
            if (!command.contains("--shard 0/2")) {
                started.awaitLine("ready: ");
            }
        }

        assertThat(shards).hasSize(DOCUMENTED_PORTS.size());
        assertThat(weights(model, "restored")).isEqualTo(saved);
        assertThat(weights("modeldisk://127.0.0.1:" + ports.get(2) + "/digits-2", "other")).isEqualTo(saved);
        assertThat(bytesOf(sandbox.path("copies/checkpoint-000001")))
            .as("the size of the checkpoint, for which docs/operations.md has a formula")
            .isBetween(4L * MIB, 4L * MIB + 16 * 12 + 2 * 8192);
    }

    private static long bytesOf(Path folder) throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            long bytes = 0;
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
            return bytes;
        }
    }
}
