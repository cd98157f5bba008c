package io.modeldisk.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.TunedSize;
import io.modeldisk.protocol.initiator.TransferSizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TuningTest {
    private Path file;

    @BeforeEach
    void place(@TempDir Path directory) {
        file = directory.resolve("of").resolve("mine").resolve("tuning.json");
    }

    @Test
    void writtenTuningFileCanBeReadBack() throws IOException {
        TransferSizes tcp = new TransferSizes(8192, 1 << 20, 16);
        TransferSizes shm = TransferSizes.DEFAULTS.withQueueDepth(4);
        new Tuning("measured", Map.of("tcp", tcp, "shm", shm)).write(file);

        Tuning read = Tuning.read(file);

        assertThat(read.of("tcp")).isEqualTo(tcp);
        assertThat(read.of("shm")).isEqualTo(shm);
        assertThat(read.of("iser")).isEqualTo(TransferSizes.DEFAULTS);
        assertThat(read.origin()).isEqualTo("of " + file);
    }

    @Test
    void writingReplacesTheTuningFileAndLeavesNoOtherFile() throws IOException {
        new Tuning("once", Map.of()).write(file);
        new Tuning("again", Map.of("tcp", TransferSizes.DEFAULTS.withQueueDepth(2))).write(file);

        assertThat(Tuning.read(file).of("tcp").queueDepth()).isEqualTo(2);
        assertThat(file.getParent()).isDirectoryContaining(path -> path.equals(file));
        assertThat(Files.list(file.getParent())).hasSize(1);
    }

    /** Over shared memory, a write never sends data with its command. */
    @Test
    void tuningFileHasNoEagerSizeForSharedMemory() throws IOException {
        new Tuning("measured", Map.of("shm", TransferSizes.DEFAULTS)).write(file);

        assertThat(file).content().doesNotContain("eagerBytes").contains("requestBytes");
    }

    @Test
    void eachTunedSizeIsReportedWithItsOrigin() {
        Tuning tuning = new Tuning("measured", Map.of("tcp", new TransferSizes(8192, 1 << 20, 16)));

        assertThat(tuning.sizes("tcp")).containsExactly(new TunedSize("eagerBytes", 8192, "measured"),
            new TunedSize("requestBytes", 1 << 20, "measured"), new TunedSize("queueDepth", 16, "measured"));
        assertThat(tuning.sizes("shm")).containsExactly(
            new TunedSize("requestBytes", TransferSizes.DEFAULTS.requestBytes(), "built in"),
            new TunedSize("queueDepth", TransferSizes.DEFAULTS.queueDepth(), "built in"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "{                                                                          | is not JSON",
        "{}                                                                         | is not a tuning file",
        "[1]                                                                        | is not a tuning file",
        "{'format': 'modeldisk tuning'}                                             | has version",
        "{'format': 'modeldisk tuning', 'version': 2} | version 2, but this modeldisk reads version 1",
        "{'format': 'modeldisk tuning', 'version': 1, 'datamovers': {'rdma': {}}}    | must be tcp, iser or shm",
        "{'format': 'modeldisk tuning', 'version': 1, 'datamovers': {'tcp': {'x': 1}}} | 'x' is not a tuned size",
        "{'format': 'modeldisk tuning', 'version': 1, 'datamovers': {'tcp': {'queueDepth': '9'}}} | must be a whole number",
        "{'format': 'modeldisk tuning', 'version': 1, 'datamovers': {'tcp': {'queueDepth': 0}}}   | queueDepth=0 must be from",
        "{'format': 'modeldisk tuning', 'version': 1, 'datamovers': {'tcp': {'requestBytes': 5000}}} | a power of two",
        "{'format': 'modeldisk tuning', 'version': 1, 'datamovers': {'tcp': {'eagerBytes': 100}}}    | eagerBytes=100 must be 0"})
    void errorForAMalformedTuningFileNamesTheFile(String text, String words) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text.replace('\'', '"'));

        assertThatThrownBy(() -> Tuning.read(file)).isInstanceOf(IOException.class).hasMessageContaining(words)
            .hasMessageContaining(file.toString());
    }

    @Test
    void missingTuningFileIsRefusedWithAdvice() {
        assertThatThrownBy(() -> Tuning.read(file)).isInstanceOf(IOException.class)
            .hasMessageContaining("does not exist; write it with `modeldisk tune`");
    }
}
