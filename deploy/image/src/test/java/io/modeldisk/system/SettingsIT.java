package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the sources of options. The command line overrides the environment, and the environment overrides the settings file. */
@Timeout(120)
final class SettingsIT {
    private static final String FILE = """
        serve.model=from-file
        serve.size=1MiB
        serve.block-size=64KiB
        serve.listen=127.0.0.1:0
        serve.consistency=bsp
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private String ready(Map<String, String> environment, Object... options) throws Exception {
        return sandbox.start("serve", environment, modeldisk(options)).awaitLine("ready: ");
    }

    @Test
    void commandLineOverridesEnvironmentAndEnvironmentOverridesSettingsFile() throws Exception {
        Map<String, String> environment = Map.of("MODELDISK_CONFIG", sandbox.file("settings", FILE).toString(),
            "MODELDISK_SERVE_MODEL", "from-environment", "MODELDISK_SERVE_BLOCK_SIZE", "128KiB");
        assertThat(ready(environment, "serve", "--block-size", "256KiB"))
            .contains("model from-environment", "1 MiB in 4 blocks of 256 KiB", "bsp");
    }

    /**
     * Each case consists of a line of a settings file, an environment variable, a command, and a part of the expected error
     * message.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        serve.size=1MiB | | serve --model m --from missing | missing does not exist
        serve.blocksize=64KiB | | status modeldisk://a/m | 'serve.blocksize'
        top.interval=2s | | --version | was removed: `watch modeldisk status ADDRESS`
        trace.timeline.out=t | | --version | was removed: `modeldisk trace FILE...` detects the kind of each file
        trace.accuracy.out=t | | --version | was removed: `modeldisk trace FILE...`
          | MODELDISK_TRACE_BANDWIDTH_OUT=t | --version | was removed: `modeldisk trace FILE...`
        bench.training.through=mount,initiator | | bench training | 'initiator' was removed: use --through mapped
        serve.durability=journal | | serve --model m --size 4 | give it with --state; --durability is set by serve.durability in
        mount.read-only=true | | mount modeldisk://h:1/m d --pull adaptive | option out; --read-only is set by mount.read-only in
          | MODELDISK_SERVE_SIZE=3 | serve --model m | EiB; --size is set by MODELDISK_SERVE_SIZE in the environment
          | MODELDISK_SERVE_PULL_FROM=device | serve --model m | need --device; --pull-from is set by MODELDISK_SERVE_PULL_FROM in
        bench.protocol.sizes=4k,6k | | bench protocol | --sizes 6144 must be a multiple
        bench.protocol.sizes=4k,6k | MODELDISK_BENCH_PROTOCOL_SIZES=5000 | bench protocol | --sizes 5000 must be a multiple
        mount.directory=. | MODELDISK_MOUNT_ADDRESS=modeldisk://127.0.0.1:1/m | mount --foreground | 127.0.0.1:1
          | MODELDISK_SERVE_SIZE=0 | serve --model m | size=0 must be a positive multiple of 4
          | MODELDISK_SERVE_BLOCKSIZE=64KiB | --version | MODELDISK_SERVE_BLOCKSIZE
          | MODELDISK_CONFIG=missing.properties | serve --model m | missing.properties
          | MODELDISK_LOG_LEVEL=loud | status 127.0.0.1:1 | it must be error, warn, info, debug or off
        """)
    void commandReportsAWrongSetting(String settings, String variable, String command, String said) throws Exception {
        Map<String, String> environment = new HashMap<>();
        if (settings != null) {
            environment.put("MODELDISK_CONFIG", sandbox.file("settings", settings + "\n").toString());
        }
        if (variable != null) {
            environment.put(variable.split("=")[0], variable.split("=")[1]);
        }
        Result result = sandbox.run(environment, modeldisk((Object[]) command.split(" ")));
        assertThat(result.status()).isIn(1, 2);
        assertThat(result.output()).contains(said).doesNotContain("\tat ");
    }

    /** The values of the settings file have blanks at their ends, which the format of properties keeps. */
    @Test
    void emptyValueCountsAsNoValueAndBlanksAroundAValueAreDropped() throws Exception {
        Path file = sandbox.file("settings", FILE.replace("\n", " \t\n") + "serve.secrets=\nserve.lease= \n");
        Map<String, String> environment = Map.of("MODELDISK_CONFIG", file.toString(), "MODELDISK_SERVE_MODEL", "",
            "MODELDISK_SERVE_BLOCK_SIZE", "128KiB ", "MODELDISK_SERVE_KEEP", " ", "MODELDISK_LOG_LEVEL", "",
            "MODELDISK_ZOOKEEPER_LOG_LEVEL", "", "CREDENTIALS_DIRECTORY", "");
        assertThat(ready(environment, "serve")).contains("model from-file", "1 MiB in 8 blocks of 128 KiB", "bsp");
    }

    @Test
    void emptyVariableForTheSettingsFileMeansTheDefaultFile() throws Exception {
        sandbox.run(Map.of("MODELDISK_CONFIG", ""), modeldisk("--version")).succeeded();
    }

    @Test
    @Tag("mount")
    void settingForLearnersHasNoEffectOnAReadOnlyMount() throws Exception {
        Programs.requireMounting();
        Shards shards = Shards.launch(sandbox, "m", 1, 1 << 20, context -> context);
        Path file = sandbox.file("settings",
            "mount.exchange=overlap\nmount.on-rollback=continue\nmount.pull=after-push\n");
        Map<String, String> environment = Map.of("MODELDISK_CONFIG", file.toString(), "MODELDISK_MOUNT_LEARNER", "l1");
        assertThat(ready(environment, "mount", shards.address(), sandbox.directory("d"), "--foreground", "--read-only"))
            .contains("read-only, exchange direct").doesNotContain("l1");
    }

    @Test
    void commandReportsAByteOrderMarkInTheSettingsFile() throws Exception {
        Path file = sandbox.file("settings", "\uFEFF" + FILE);
        Result result = sandbox.run(Map.of("MODELDISK_CONFIG", file.toString()), modeldisk("serve"));
        assertThat(result.status()).isEqualTo(2);
        assertThat(result.output()).isEqualTo("modeldisk: cannot read the settings file " + file
            + ": the file begins with a byte order mark (U+FEFF); save it as UTF-8 without this mark\n");
    }

    @Test
    void commandReportsASettingsFileThatIsNotUtf8() throws Exception {
        Path file = sandbox.path("settings");
        Files.write(file, FILE.getBytes(StandardCharsets.UTF_16LE));
        Files.write(file, new byte[]{(byte) 0xFF, (byte) 0xFE}, StandardOpenOption.APPEND);
        Result result = sandbox.run(Map.of("MODELDISK_CONFIG", file.toString()), modeldisk("serve"));
        assertThat(result.output()).isEqualTo(
            "modeldisk: cannot read the settings file " + file + ": it is not UTF-8 text\n");
    }

    @Test
    void shardReadsItsSecretsFromTheSystemdCredential() throws Exception {
        Path secrets = sandbox.directory("credentials").resolve("secrets");
        Map<String, String> environment = Map.of("CREDENTIALS_DIRECTORY", secrets.getParent().toString());
        Object[] serve = {"serve", "--model", "m", "--size", "1MiB", "--listen", "127.0.0.1:0"};
        Files.writeString(secrets, "nonsense");
        sandbox.run(environment, modeldisk(serve)).failed(2, secrets.toString());
        Files.setPosixFilePermissions(secrets, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(secrets, "peer p 123456789012\n");
        sandbox.run(environment, modeldisk(serve, "--insecure")).failed(2,
            "--secrets and --insecure contradict each other",
            "; --secrets is set by the credential " + secrets);
        Files.writeString(secrets, "none");
        assertThat(ready(environment, serve)).contains("model m");
    }
}
