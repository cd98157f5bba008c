package io.modeldisk.platform.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of a file that is written to disk range by range. */
class WriteBackTest {
    private static final int MIB = 1 << 20;

    @TempDir
    private Path folder;
    private final AtomicInteger ranges = new AtomicInteger();

    private Path file(int bytes) throws IOException {
        return Files.write(folder.resolve("file"), new byte[bytes]);
    }

    @Test
    void progressIsReportedAfterEachRange() throws IOException {
        WriteBack.of(file(20 * MIB), 20 * MIB, ranges::incrementAndGet);
        assertThat(ranges).hasValue(3);
    }

    @Test
    void symbolicLinkIsNotFollowed() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), file(MIB));
        WriteBack.of(link, MIB, ranges::incrementAndGet);
        assertThat(ranges).hasValue(0);
    }

    @Test
    void failureOfTheProgressActionEndsTheWriteBack() throws IOException {
        Path file = file(20 * MIB);
        assertThatThrownBy(() -> WriteBack.of(file, 20 * MIB, () -> {
            ranges.incrementAndGet();
            throw new IOException("full");
        })).hasMessage("full");
        assertThat(ranges).hasValue(1);
    }
}
