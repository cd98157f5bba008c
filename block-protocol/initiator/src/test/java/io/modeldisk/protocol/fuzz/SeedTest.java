package io.modeldisk.protocol.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** Replays every seed. The seeds include every input that once made a fuzz target fail. */
@Timeout(120)
class SeedTest {
    static final Path SEEDS = Path.of("src/test/resources/fuzz");

    @TestFactory
    Stream<DynamicTest> noSeedMakesItsFuzzTargetFail() throws IOException {
        return Stream.of(FuzzTarget.values()).flatMap(SeedTest::tests);
    }

    private static Stream<DynamicTest> tests(FuzzTarget target) {
        try (Stream<Path> files = Files.list(SEEDS.resolve(target.folder()))) {
            List<Path> seeds = files.sorted().toList();
            assertThat(seeds).as("seeds of %s", target).isNotEmpty();
            return seeds.stream().map(seed -> DynamicTest.dynamicTest(target.folder() + "/" + seed.getFileName(),
                () -> target.run.accept(Files.readAllBytes(seed))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
