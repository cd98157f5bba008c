package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which libraries of the image are on the class path of each subcommand. */
final class ImageIT {
    private static final Path LIB = Path.of(System.getProperty("project.root"), "deploy/image/target/modeldisk/lib");
    private static final String BENCH_ONLY = "(?i)(bench|xchart|VectorGraphics2D|HdrHistogram|grpc|guava|perfmark|gson).*";

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private static List<String> jars(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".jar")).toList();
        }
    }

    @Test
    void benchmarkLibrariesAreNotOnTheClassPathOfServeAndMount() throws IOException {
        assertThat(jars(LIB)).anyMatch(name -> name.startsWith("command-")).noneMatch(name -> name.matches(BENCH_ONLY));
        assertThat(jars(LIB.resolve("bench"))).anyMatch(name -> name.startsWith("bench-"));
    }

    @Test
    void onlyTheNativeLibraryOfJCudaForTheDriverIsInTheImage() throws IOException {
        assertThat(jars(LIB)).anyMatch(name -> name.startsWith("aggregators-cuda-"))
            .anyMatch(name -> name.startsWith("jcuda-1"));
        try (Stream<Path> files = Files.walk(LIB)) {
            assertThat(files.map(file -> LIB.relativize(file).toString())
                .filter(name -> name.contains("natives") || name.endsWith(".so")))
                .singleElement().asString().startsWith("native/libJCudaDriver-");
        }
    }

    @Test
    void shardWithoutADeviceLoadsNeitherJCudaNorTheDriver() throws Exception {
        Path classes = sandbox.path("classes.log");
        Running shard = sandbox.start("serve", Map.of("JDK_JAVA_OPTIONS", "-Xlog:class+load:file=" + classes),
            modeldisk("serve", "--model", "m", "--size", "1MiB", "--listen", "127.0.0.1:0"));
        Command.port(shard);
        assertThat(Files.readString(classes)).contains("io.modeldisk.command.Main").doesNotContain(" jcuda.");
        assertThat(Files.readString(Path.of("/proc", Long.toString(shard.process().pid()), "maps")))
            .contains("libjvm.so").doesNotContain("libJCuda", "libcuda");
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve", "mount", "status", "bench", "tune", "trace"})
    void everySubcommandPrintsItsHelp(String subcommand) throws Exception {
        assertThat(sandbox.run(modeldisk(subcommand, "--help")).succeeded()).contains("Usage: modeldisk " + subcommand);
    }
}
