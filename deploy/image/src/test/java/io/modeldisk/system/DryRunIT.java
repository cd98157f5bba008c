package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests {@code modeldisk serve --dry-run}: its numbers are those of a shard that is started with the same options. */
@Timeout(120)
final class DryRunIT {
    private static final long BLOCK_STATE = 64 * 8200;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Result dryRun(Object... options) throws Exception {
        return sandbox.run(modeldisk("serve", "--dry-run", "--model", "m", options));
    }

    /** Returns the bytes in the first line of this purpose; 0 if there is no such line. */
    private static long bytes(String output, String purpose) {
        Matcher line = Pattern.compile("(?m)^  " + Pattern.quote(purpose) + " +(\\d+)  ").matcher(output);
        return line.find() ? Long.parseLong(line.group(1)) : 0;
    }

    private void compare(Object... options) throws Exception {
        String output = dryRun(options).succeeded();
        Shards shards = Command.serveAll(sandbox, "m", 1, options);
        JsonNode status = new ObjectMapper()
            .readTree(sandbox.run(modeldisk("status", "--json", shards.address())).succeeded()).path(0);

        assertThat(bytes(output, "total")).isEqualTo(status.path("memoryBytes").asLong());
        // The last block of a model can be shorter than the others, but has as much memory.
        long state = status.path("stateBytes").asLong();
        assertThat(bytes(output, "state of the aggregator")).isBetween(state, state + BLOCK_STATE);
        assertThat(bytes(output, "copies for readers")).isEqualTo(status.path("readers").path("limitBytes").asLong());
        long journal = status.path("journal").path("limitBytes").asLong();
        assertThat(bytes(output, "journals")).isEqualTo(journal == 0 ? 0 : 2 * journal + (256 << 20));
        if (status.has("checkpoint")) {
            Path folder = Path.of(sandbox.run(modeldisk("checkpoint", shards.address())).succeeded().strip());
            try (Stream<Path> files = Files.walk(folder)) {
                long size = files.map(Path::toFile).filter(file -> file.isFile()).mapToLong(file -> file.length())
                    .sum();
                assertThat(size).isBetween(bytes(output, "checkpoints") / 4 * 9 / 10, bytes(output, "checkpoints") / 4);
            }
        }
    }

    @Test
    void dryRunOfASizePrintsTheNeedsOfTheStartedShard() throws Exception {
        compare("--size", "32MiB", "--aggregator", "adam:lr=0.1", "--consistency", "bsp", "--learners", 3, "--state",
            sandbox.path("state"), "--durability", "journal");
    }

    @Test
    void dryRunOfAFilePrintsTheNeedsOfTheStartedShard() throws Exception {
        String header = "{\"w\":{\"dtype\":\"BF16\",\"shape\":[500000],\"data_offsets\":[0,1000000]}}";
        byte[] text = (header + " ".repeat(-header.length() & 7)).getBytes(StandardCharsets.US_ASCII);
        Path file = Files.write(sandbox.path("w.safetensors"), ByteBuffer.allocate(8 + text.length + 1_000_000)
            .order(ByteOrder.LITTLE_ENDIAN).putLong(text.length).put(text).array());
        assertThat(dryRun("--from", file).succeeded()).contains("shard 0/1 of model m: 1.91 MiB in 8 blocks",
            "initial weights              " + file);
        compare("--from", file, "--aggregator", "momentum:lr=0.1", "--consistency", "bsp");
    }

    @Test
    void dryRunWritesNothingAndNamesThePortAndTheSocket() throws Exception {
        Path state = sandbox.path("none");
        assertThat(dryRun("--size", "1MiB", "--listen", "127.0.0.1:0", "--state", state, "--datamover", "tcp,shm",
            "--shm-directory", sandbox.path("sockets"), "--admin", "127.0.0.1:0").succeeded())
            .contains("tcp, shm ", "127.0.0.1:0 (a free port)", sandbox.path("sockets").toString(), "admin ",
                "this machine has what the shard needs");
        assertThat(state).doesNotExist();
        assertThat(sandbox.path("sockets")).doesNotExist();
    }

    @Test
    void exitStatusDistinguishesWrongOptionsFromATooSmallMachine() throws Exception {
        dryRun("--size", "1MiB", "--durability", "journal").failed(2, "needs a directory; give it with --state");
        dryRun("--size", "1MiB", "--listen", "0.0.0.0:0").failed(2, "give --secrets FILE, or --insecure");
        dryRun("--size", "1MiB", "--learners", 1000).failed(2, "--max-sessions");
        dryRun("--size", "8TiB", "--block-size", "1MiB", "--listen", "127.0.0.1:0").failed(1, "the shard needs",
            "this machine cannot serve the shard");
        dryRun("--size", "1GiB", "--listen", "127.0.0.1:0", "--state", sandbox.path("state"), "--keep", 2_000_000)
            .failed(1, "of disk", "or a lower --keep");
        int port = Command.port(Command.serve(sandbox, "--model", "other", "--size", "1MiB"));
        dryRun("--size", "1MiB", "--listen", "127.0.0.1:" + port).failed(1, "cannot listen on 127.0.0.1:" + port);
    }
}
