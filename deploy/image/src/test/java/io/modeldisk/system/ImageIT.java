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

/** Tests the libraries and the ahead-of-time caches of the image. */
final class ImageIT {
    private static final Path LIB = Path.of(System.getProperty("project.root"), "deploy/image/target/modeldisk/lib");
    private static final String OPTIONAL = "(?i)(bench|xchart|VectorGraphics2D|HdrHistogram|grpc|guava|perfmark|gson"
        + "|.*jnr|jffi|asm).*";

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private static List<String> jars(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".jar")).toList();
        }
    }

    @Test
    void librariesOfBenchmarksAndJnrAreInSeparateFolders() throws IOException {
        assertThat(jars(LIB)).anyMatch(name -> name.startsWith("command-")).noneMatch(name -> name.matches(OPTIONAL));
        assertThat(jars(LIB.resolve("bench"))).anyMatch(name -> name.startsWith("bench-"))
            .noneMatch(name -> name.contains("jnr"));
        assertThat(jars(LIB.resolve("jnr"))).anyMatch(name -> name.startsWith("mount-jnr-"));
    }

    @Test
    void mountRefusesTheJnrBindingWithoutItsLibraries() throws Exception {
        sandbox.run("cp", "-a", LIB.getParent(), sandbox.path("image")).succeeded();
        sandbox.run("rm", "-r", sandbox.path("image/lib/jnr")).succeeded();
        sandbox.run(sandbox.path("image/bin/modeldisk"), "mount", "--binding", "jnr", "modeldisk://127.0.0.1:1/m",
            sandbox.directory("m")).failed("binding=jnr needs libraries that are not on the class path");
    }

    @Test
    void imageContainsOnlyTheDriverLibraryOfJCuda() throws IOException {
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

    /** Runs a command that exits at once, such as {@code --help}, and returns Java's log of the loaded classes. */
    private String classes(Path image, String javaOptions, String... arguments) throws Exception {
        Path classes = sandbox.path("classes.log");
        sandbox.run(Map.of("JDK_JAVA_OPTIONS", javaOptions + " -Xlog:class+load:file=" + classes),
            image.resolve("bin/modeldisk"), arguments).succeeded();
        return Files.readString(classes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "serve --help", "mount --help", "bench --help", "coordinator --help"})
    void commandUsesItsAheadOfTimeCache(String arguments) throws Exception {
        assertThat(classes(LIB.getParent(), "", arguments.split(" ")))
            .contains("io.modeldisk.command.Main source: shared objects file",
                "picocli.CommandLine source: shared objects file");
    }

    @Test
    void helpDoesNotInitializeLogging() throws Exception {
        assertThat(classes(LIB.getParent(), "-XX:AOTMode=off", "--help")).contains("io.modeldisk.command.ServeCommand ")
            .doesNotContain("org.apache.logging.log4j.core.LoggerContext ");
    }

    @Test
    void copiedImageUsesItsCaches() throws Exception {
        sandbox.run("cp", "-a", LIB.getParent(), sandbox.path("image")).succeeded();
        assertThat(classes(sandbox.path("image"), "", "--version"))
            .contains("io.modeldisk.command.Main source: shared objects file");
    }

    @ParameterizedTest
    @ValueSource(strings = {"touch", "printf ' ' >>"})
    void commandSilentlyIgnoresACacheAfterALibraryChange(String change) throws Exception {
        sandbox.run("cp", "-a", LIB.getParent(), sandbox.path("image")).succeeded();
        // A space appended to a jar file changes the size of the file, but Java can still read the file.
        sandbox.shell("cd \"$1\"/lib && %s command-*.jar && touch command.aot".formatted(change)
            + (change.equals("touch") ? " -d yesterday" : ""), sandbox.path("image")).succeeded();
        assertThat(classes(sandbox.path("image"), "", "--version"))
            .doesNotContain("io.modeldisk.command.Main source: shared objects file");
        assertThat(sandbox.run(sandbox.path("image/bin/modeldisk"), "--version").succeeded())
            .startsWith("modeldisk 0.3.0\n").doesNotContainIgnoringCase("cache", "warning");
    }
}
