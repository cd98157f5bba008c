package io.modeldisk.protocol.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs the coverage-guided fuzzer Jazzer on each fuzz target for {@code -Dfuzz.seconds} seconds, each in a separate process. An
 * input that makes a fuzz target fail is stored in {@code target/fuzz/NAME}. After you have repaired the defect, copy the input
 * to {@code src/test/resources/fuzz/NAME}. The corpus of the fuzzer is stored in {@code target/fuzz/NAME/corpus}, and a later run
 * continues with this corpus.
 */
@Tag("fuzz")
class FuzzTest {
    private static final String SANITIZERS = "com.code_intelligence.jazzer.sanitizers.";
    private static final long SECONDS = Long.getLong("fuzz.seconds", 10);
    private static final long START_AND_END_SECONDS = 120;

    @ParameterizedTest
    @EnumSource
    void noFuzzerInputMakesAFuzzTargetFail(FuzzTarget target) throws Exception {
        Path folder = Files.createDirectories(Path.of("target/fuzz").resolve(target.folder()));
        Path corpus = Files.createDirectories(folder.resolve("corpus"));
        Path log = folder.resolve("log");
        Process fuzzer = new ProcessBuilder(commandLine(target, folder, corpus)).redirectErrorStream(true)
            .redirectOutput(log.toFile()).start();
        try {
            assertThat(fuzzer.waitFor(SECONDS + START_AND_END_SECONDS, TimeUnit.SECONDS)).as("fuzzer stopped").isTrue();
        } finally {
            fuzzer.destroyForcibly();
        }
        assertThat(fuzzer.exitValue()).as("exit status of the fuzzer; its log:%n%s", end(log)).isZero();
        assertThat(Files.readString(log)).contains("Done ");
    }

    private static List<String> commandLine(FuzzTarget target, Path folder, Path corpus) {
        return List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx1g", "-XX:+EnableDynamicAgentLoading", "--enable-native-access=ALL-UNNAMED",
            "-cp", System.getProperty("java.class.path"), "com.code_intelligence.jazzer.Jazzer",
            "--target_class=" + target.type.getName(), "--instrumentation_includes=io.modeldisk.**",
            "--disabled_hooks=" + SANITIZERS + "ServerSideRequestForgery", "--reproducer_path=" + folder,
            "-seed=1", "-max_total_time=" + SECONDS, "-max_len=" + target.maxInputBytes, "-timeout=60",
            "-rss_limit_mb=4096", "-artifact_prefix=" + folder + "/",
            corpus.toString(), SeedTest.SEEDS.resolve(target.folder()).toString());
    }

    private static String end(Path log) throws IOException {
        List<String> lines = Files.readAllLines(log);
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
    }
}
