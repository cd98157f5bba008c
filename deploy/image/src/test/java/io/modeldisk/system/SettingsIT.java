package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

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
    void settingsFileCanSetAllRequiredOptions() throws Exception {
        Map<String, String> environment = Map.of("MODELDISK_CONFIG", sandbox.file("settings", FILE).toString());
        assertThat(ready(environment, "serve")).contains("model from-file", "1 MiB in 16 blocks of 64 KiB", "bsp");
    }

    @Test
    void commandLineOverridesEnvironmentAndEnvironmentOverridesSettingsFile() throws Exception {
        Map<String, String> environment = Map.of("MODELDISK_CONFIG", sandbox.file("settings", FILE).toString(),
            "MODELDISK_SERVE_MODEL", "from-environment", "MODELDISK_SERVE_BLOCK_SIZE", "128KiB");
        assertThat(ready(environment, "serve", "--block-size", "256KiB"))
            .contains("model from-environment", "1 MiB in 4 blocks of 256 KiB", "bsp");
    }

    @Test
    void fromOptionOnTheCommandLineOverridesTheSizeSetting() throws Exception {
        Map<String, String> environment = Map.of("MODELDISK_CONFIG", sandbox.file("settings", FILE).toString());
        Result result = sandbox.run(environment, modeldisk("serve", "--from", "missing.safetensors"));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains("missing.safetensors does not exist");
    }

    @Test
    void byteOrderMarkInTheSettingsFileIsNamed() throws Exception {
        Path file = sandbox.file("settings", "\uFEFF" + FILE);
        Result result = sandbox.run(Map.of("MODELDISK_CONFIG", file.toString()), modeldisk("serve"));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).isEqualTo("modeldisk: cannot read the settings file " + file
            + ": the file begins with a byte order mark (U+FEFF); save it as UTF-8 without this mark\n");
    }

    @Test
    void settingsFileThatIsNoTextIsNamed() throws Exception {
        Path file = sandbox.path("settings");
        Files.write(file, FILE.getBytes(StandardCharsets.UTF_16LE));
        Files.write(file, new byte[]{(byte) 0xFF, (byte) 0xFE}, StandardOpenOption.APPEND);
        Result result = sandbox.run(Map.of("MODELDISK_CONFIG", file.toString()), modeldisk("serve"));
        assertThat(result.output()).isEqualTo(
            "modeldisk: cannot read the settings file " + file + ": it is not UTF-8 text\n");
    }

    @Test
    void settingsOfANestedSubcommandHaveItsFullNameAsPrefix() throws Exception {
        String file = sandbox.file("settings", "bench.protocol.sizes=4k,6k\n").toString();
        Result fromFile = sandbox.run(Map.of("MODELDISK_CONFIG", file), modeldisk("bench", "protocol"));
        assertThat(fromFile.status()).isEqualTo(1);
        assertThat(fromFile.output()).contains("--sizes 6144 must be a multiple of 4096");
        Result fromEnvironment = sandbox.run(
            Map.of("MODELDISK_CONFIG", file, "MODELDISK_BENCH_PROTOCOL_SIZES", "5000"), modeldisk("bench", "protocol"));
        assertThat(fromEnvironment.status()).isEqualTo(1);
        assertThat(fromEnvironment.output()).contains("--sizes 5000 must be a multiple of 4096");
    }

    @Test
    void errorMessageNamesAMissingSettingsFile() throws Exception {
        Result result = sandbox.run(Map.of("MODELDISK_CONFIG", "missing.properties"),
            modeldisk("serve", "--model", "m", "--size", "1MiB", "--listen", "127.0.0.1:0"));
        assertThat(result.status()).isNotZero();
        assertThat(result.output()).contains("missing.properties").doesNotContain("\tat ");
    }

    @Test
    void errorMessageNamesAWrongValueFromTheEnvironment() throws Exception {
        Result result = sandbox.run(Map.of("MODELDISK_SERVE_SIZE", "0"),
            modeldisk("serve", "--model", "m", "--listen", "127.0.0.1:0"));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains("size=0 must be a positive multiple of 4");
    }

    @Test
    void errorMessageNamesAnUnknownSetting() throws Exception {
        String file = sandbox.file("misspelt", "serve.blocksize=64KiB\n").toString();
        Result result = sandbox.run(Map.of("MODELDISK_CONFIG", file), modeldisk("status", "modeldisk://localhost/m"));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains(file, "'serve.blocksize'", "serve.block-size");
    }

    @Test
    void errorMessageNamesAnUnknownEnvironmentVariable() throws Exception {
        Result result = sandbox.run(Map.of("MODELDISK_SERVE_BLOCKSIZE", "64KiB"), modeldisk("--version"));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains("MODELDISK_SERVE_BLOCKSIZE");
    }

    @Test
    void errorMessageNamesTheReplacementOfARemovedSetting() throws Exception {
        String file = sandbox.file("old", "top.interval=2s\n").toString();
        Result result = sandbox.run(Map.of("MODELDISK_CONFIG", file), modeldisk("--version"));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains("'top.interval'", "was removed: `watch modeldisk status ADDRESS`");
    }

    @Test
    void settingsFileCanSetTheArgumentsOfAMount() throws Exception {
        String file = sandbox.file("mount.properties", "mount.address=modeldisk://127.0.0.1:1/m\nmount.directory="
            + sandbox.directory("mounted") + "\n").toString();
        Result result = sandbox.run(Map.of("MODELDISK_CONFIG", file), modeldisk("mount", "--foreground"));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains("127.0.0.1:1");
    }

    @Test
    void credentialOfSystemdIsTheSecretsFile() throws Exception {
        Path secrets = sandbox.directory("credentials").resolve("secrets");
        Map<String, String> environment = Map.of("CREDENTIALS_DIRECTORY", secrets.getParent().toString());
        Object[] serve = {"serve", "--model", "m", "--size", "1MiB", "--listen", "127.0.0.1:0"};
        Files.writeString(secrets, "nonsense");
        Result result = sandbox.run(environment, modeldisk(serve));
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.output()).contains(secrets.toString());
        Files.writeString(secrets, "none");
        assertThat(ready(environment, serve)).contains("model m");
    }

    @Test
    void unknownLevelOfTheLogIsReported() throws Exception {
        Result result = sandbox.run(Map.of("MODELDISK_LOG_LEVEL", "loud"), modeldisk("status", "127.0.0.1:1"));
        assertThat(result.status()).isEqualTo(2);
        assertThat(result.output())
            .contains("MODELDISK_LOG_LEVEL='loud' is unknown; it must be error, warn, info, debug or off");
    }
}
