package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests commands with wrong input. A command must report the wrong value and the remedy, and must not leave a process or a mount
 * behind.
 */
@Timeout(120)
final class BadInputIT {
    private static final long SIZE_BYTES = 1 << 20;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private void assertRefused(List<String> said, Object... arguments) throws Exception {
        Result result = sandbox.run(modeldisk(arguments));
        assertThat(result.status()).as(result::toString).isIn(1, 2);
        assertThat(result.output()).contains(said).doesNotContain("ready:", "\tat ", "Exception");
        await("all processes of the command exit: " + result, () -> sandbox.processes().isEmpty());
        assertThat(sandbox.mounts()).isEmpty();
    }

    private void assertServeRefused(List<String> said, Object... options) throws Exception {
        assertRefused(said, "serve", "--model", "m", "--listen", "127.0.0.1:0", options);
    }

    private Shards launch(int count, long sizeBytes) throws Exception {
        return Shards.launch(sandbox, "m", count, sizeBytes, context -> context);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --size=0                                  | size=0 must be a positive multiple of 4
        --size=much                               | 'much' is not a size; write it like 4096
        --size=1MiB --block-size=300k             | blockSize=300 KiB must be a power of two from 4096 to 1 MiB
        --size=1MiB --shard=2/2                   | --shard '2/2' must be I/N with I < N
        --size=1MiB --shard=first                 | --shard 'first' must be I/N
        --size=4KiB --shard=1/2                   | shard=1 would get no block
        --size=1MiB --aggregator=magic            | "magic" is not known; the known aggregators are
        --size=1MiB --aggregator=sgd:lr=-1        | lr=-1.0 must be above 0
        --size=1MiB --consistency=none            | consistency=none must be asp, bsp or ssp:S
        --size=1MiB --consistency=ssp:-1          | other learners may lag behind, from 0 to 1000000, such as ssp:3
        --from=missing.safetensors                | missing.safetensors does not exist
        --from=.                                  | . is not a regular file
        --size=1MiB --from=missing.safetensors    | exclude each other; give only one of them
        --shard=0/1                               | --size, --from and --tensors are missing
        --size=1MiB --secrets=missing             | the secrets file missing does not exist
        --size=1MiB --secrets=no.properties       | other users can read or change it; run chmod 600 no.properties
        --size=1MiB --allow-address=10.0.0.1/8    | did you mean 10.0.0.0/8?
        --size=1MiB --peers=127.0.0.1,127.0.0.2   | must list the addresses of all shards (1) in order
        --size=1MiB --peers=127.0.0.2             | 127.0.0.2:3260 is listed for shard 0
        --size=1MiB --max-sessions=0              | --max-sessions is 0; set --max-sessions=2 or more
        --size=1MiB --ping-interval=0             | pingInterval=0s must be longer than 0s
        --size=1MiB --port-group=1/2              | --port-group 1/2 needs --coordinator
        --size=1MiB --port-group=first            | --port-group 'first' must be I/N
        --size=1MiB --coordinator=unknown.invalid:2181 | the host is unknown
        --size=1MiB --coordinator=127.0.0.1:1 --port-group=3/2 | target port group 3/2 must be I/N with I from 1 to N
        """)
    void serveRefusesAWrongOptionValueAndReportsTheReason(String options, String said) throws Exception {
        assertServeRefused(List.of(said), (Object[]) options.split(" "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0:0", "[::]:0"})
    void serveOnAnExternalAddressRequiresSecretsOrTheInsecureOption(String listen) throws Exception {
        assertRefused(List.of("give --secrets FILE, or --insecure to admit every initiator"), "serve", "--model",
            "m", "--size=1MiB", "--listen", listen);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "-n 64|the limit of open files is 64; at least 128, and one for each connection, are needed",
        "-v 3000000|the address space is limited to 3000000 KiB; Java needs at least 4194304"})
    void commandReportsATooSmallSystemLimitInOneLine(String limit, String said) throws Exception {
        Result result = sandbox.shell("ulimit " + limit + " && exec \"$1\" --version", modeldisk()[0]);
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output().lines()).singleElement().asString().startsWith("modeldisk: " + said);
    }

    @Test
    void commandReportsADeletedWorkingDirectoryInOneLine() throws Exception {
        sandbox.directory("gone");
        Result result = sandbox.shell("cd gone && rmdir ../gone && exec \"$1\" --version", modeldisk()[0]);
        assertThat(result.status()).isEqualTo(1);
        // Bash itself reports the missing directory first.
        assertThat(result.output().lines().filter(line -> !line.startsWith("shell-init: "))).singleElement().asString()
            .startsWith("modeldisk: the working directory cannot be read, perhaps because it was deleted");
    }

    @Test
    void prepareRefusesAnUnknownPurpose() throws Exception {
        Path prepare = Path.of(System.getProperty("project.root"), "deploy", "prepare");
        sandbox.run(prepare, "quickstarts").failed(2, "the purpose 'quickstarts' is unknown", "quickstart|examples|");
        sandbox.run(prepare).failed(2, "the purpose '' is unknown");
    }

    @Test
    void serveReportsAPortThatIsInUse() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String portal = "127.0.0.1:" + taken.getLocalPort();
            assertRefused(List.of("cannot listen on " + portal, "with --listen HOST:PORT"), "serve", "--model", "m",
                "--size=1MiB", "--listen", portal);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        protocol --sizes=6000        | --sizes 6000 must be a multiple of 4096
        protocol --clients=1,0       | --clients 0 must be from 1 to 4096
        protocol --pairs=3           | '--pairs' was removed: it is now called --rounds
        micro --measures latency     | 'micro' was removed: `modeldisk bench protocol --measures latency,fan-in,mesh`
        training --through=initiator | 'initiator' was removed: use --through mapped, which makes no copy
        start --commands             | 'start' was removed: docs/measurements.md lists the shell commands
        """)
    void benchReportsAnInvalidOptionValue(String options, String said) throws Exception {
        assertRefused(List.of(said), "bench", options.split(" "));
    }

    @Test
    void serveReportsTheDefectOfADamagedSafetensorsFile() throws Exception {
        Path file = Files.write(sandbox.path("broken.safetensors"), ByteBuffer.allocate(4096).put(5, (byte) 1).array());
        assertServeRefused(
            List.of("broken.safetensors", "the header is declared to have 1099511627776 bytes, but the maximum is"),
            "--from", file);
    }

    @ParameterizedTest
    @ValueSource(strings = {"protocol", "training"})
    void benchRefusesAnOutputFileInAMissingDirectory(String bench) throws Exception {
        assertRefused(List.of("--out missing/x.svg cannot be written: its directory does not exist"), "bench", bench,
            "--out", "missing/x.svg");
    }

    @Test
    void mountReportsAShardThatDoesNotListen() throws Exception {
        int free = Command.freePorts(1).getFirst();
        assertRefused(
            List.of("127.0.0.1:" + free + ": the target does not respond", "is `modeldisk serve` running there?"),
            "mount",
            "modeldisk://127.0.0.1:" + free + "/m", sandbox.directory("d"));
    }

    @Test
    void mountFailsIfAShardNeverRespondsToTheLogin() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            String portal = "127.0.0.1:" + silent.getLocalPort();
            assertRefused(List.of(portal + " accepts connections but does not respond to a login"), "mount",
                "modeldisk://" + portal + "/m", sandbox.directory("d"));
        }
    }

    @Test
    void mountRefusesShardsThatDoNotBelongTogether() throws Exception {
        Path directory = sandbox.directory("d");
        Shards small = launch(2, SIZE_BYTES);
        Shards large = launch(2, 2 * SIZE_BYTES);
        Shards mixed = new Shards("m", List.of(small.ports().getFirst(), large.ports().getLast()));
        assertRefused(
            List.of("127.0.0.1:" + large.ports().getLast(), "its size is 2097152, but at shard 0 it is 1048576"),
            "mount",
            mixed.address(), directory);
        Shards turned = new Shards("m", small.ports().reversed());
        assertRefused(List.of("127.0.0.1:" + turned.ports().getFirst() + " serves shard 1 of model "), "mount",
            turned.address(), directory);
        Shards first = new Shards("m", small.ports().subList(0, 1));
        assertRefused(List.of("is one of 2 shards of model m, but 1 address was given"), "mount", first.address(),
            directory);
        assertRefused(List.of("iqn.2026-11.io.modeldisk:other", "target not found"), "mount",
            new Shards("other", small.ports()).address(), directory);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        127.0.0.1/m d                         | '127.0.0.1/m' is not the address of a model: write modeldisk://
        modeldisk://SHARD/m d --exchange=magic | exchange=magic must be one of direct, sync
        modeldisk://SHARD/m missing           | missing does not exist
        modeldisk://SHARD/m no.properties     | no.properties is not a directory
        """)
    void mountRefusesAWrongArgumentAndReportsTheReason(String arguments, String said) throws Exception {
        String shard = "127.0.0.1:" + launch(1, SIZE_BYTES).ports().getFirst();
        sandbox.directory("d");
        assertRefused(List.of(said), "mount", arguments.replace("SHARD", shard).split(" "));
    }

    /** Each case consists of options with a file, a directory or an address that cannot be used, and the expected message. */
    @ParameterizedTest
    @Tag("mount")
    @CsvSource(delimiter = '|', textBlock = """
        --log=missing/mount.log      | cannot open the log file missing/mount.log: No such file or directory
        --log=.                      | cannot open the log file .: Is a directory
        --log=fifo                   | cannot open the log file fifo: No such device or address
        --secrets=missing            | the secrets file missing does not exist
        --tuning=missing             | missing does not exist
        --shm-directory=missing      | --shm-directory missing does not exist
        --shm-directory=file         | --shm-directory file is not a directory
        --admin=127.0.0.1:%d         | cannot listen on --admin 127.0.0.1:%d
        --admin=127.0.0.1:0 --admin-token=missing | the token file missing does not exist
        --admin=127.0.0.1:0 --admin-tls=missing   | missing does not exist
        """)
    void backgroundMountFailsBeforeItIsReadyIfAnOptionIsUnusable(String options, String said) throws Exception {
        Programs.requireMounting();
        sandbox.file("file", "");
        sandbox.run("mkfifo", sandbox.path("fifo")).succeeded();
        Shards shards = launch(1, SIZE_BYTES);
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            String port = Integer.toString(taken.getLocalPort());
            assertRefused(List.of(said.replace("%d", port)), "mount", shards.address(), sandbox.directory("d"),
                options.replace("%d", port).split(" "));
        }
    }

    @Test
    void unmountRefusesADirectoryThatIsNotMounted() throws Exception {
        assertRefused(List.of(sandbox.path("d") + " is not mounted"), "unmount", sandbox.directory("d"));
    }

    @Test
    @Tag("mount")
    void mountRefusesADirectoryThatIsAlreadyMounted() throws Exception {
        Programs.requireMounting();
        Shards shards = launch(1, SIZE_BYTES);
        Path directory = sandbox.directory("d");
        Command.mounted(sandbox, shards, directory);
        sandbox.run(modeldisk("mount", shards.address(), directory))
            .failed(1, directory + " is already a mount point", "modeldisk unmount " + directory);
        assertThat(sandbox.mounts()).containsExactly(directory.toString());
        await("only the first mount's process is left", () -> sandbox.processes().size() == 1);
    }
}
