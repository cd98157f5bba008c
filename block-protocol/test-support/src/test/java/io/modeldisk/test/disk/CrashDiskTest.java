package io.modeldisk.test.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@Tag("mount")
final class CrashDiskTest {
    @TempDir
    private Path base;
    @AutoClose
    private CrashDisk disk;

    @BeforeEach
    void mount() throws IOException {
        assumeTrue(Files.isWritable(Path.of("/dev/fuse")), "/dev/fuse is missing");
        disk = CrashDisk.mount(Files.createDirectory(base.resolve("disk")));
    }

    private Path path(String name) {
        return disk.directory().resolve(name);
    }

    private void write(String name, String text, boolean sync) throws IOException {
        try (FileChannel channel = FileChannel.open(path(name), StandardOpenOption.WRITE, StandardOpenOption.CREATE,
            StandardOpenOption.APPEND)) {
            channel.write(ByteBuffer.wrap(text.getBytes()));
            if (sync) {
                channel.force(false);
            }
        }
    }

    private void sync(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory)) {
            channel.force(true);
        }
    }

    @Test
    void onlySynchronizedDataSurvivesACrash() throws IOException {
        write("a", "one ", true);
        sync(disk.directory());
        write("a", "two", false);
        assertThat(path("a")).hasContent("one two");
        disk.crash();
        assertThat(path("a")).hasContent("one ");
    }

    @Test
    void directoryEntriesSurviveACrashOnlyIfTheDirectoryWasSynchronized() throws IOException {
        Files.createDirectory(path("d"));
        write("d/a", "a", true);
        sync(path("d"));
        sync(disk.directory());
        write("d/b", "b", true);
        Files.move(path("d/a"), path("d/c"), StandardCopyOption.ATOMIC_MOVE);
        disk.crash();
        assertThat(Files.list(path("d"))).containsExactly(path("d/a"));
        Files.delete(path("d/a"));
        disk.crash();
        assertThat(path("d/a")).hasContent("a");
    }

    @Test
    void dataOfAFailedSyncIsLostEvenIfALaterSyncSucceeds() throws IOException {
        write("a", "one ", true);
        sync(disk.directory());
        disk.failSyncs(1);
        assertThatThrownBy(() -> write("a", "x".repeat(8192), true)).isInstanceOf(IOException.class);
        try (FileChannel channel = FileChannel.open(path("a"), StandardOpenOption.WRITE)) {
            channel.force(false);
        }
        disk.crash();
        assertThat(Files.readString(path("a"))).startsWith("one \0").doesNotContain("x");
    }

    @Test
    void fullOrReadOnlyDiskRefusesWrites() throws IOException {
        disk.capacityBytes(8192);
        write("a", "x".repeat(8192), true);
        assertThatThrownBy(() -> write("a", "x", true)).hasMessageContaining("No space left");
        disk.capacityBytes(16384);
        write("a", "x", true);
        assertThat(disk.usedBytes()).isEqualTo(12288);
        disk.readOnly(true);
        assertThatThrownBy(() -> write("a", "x", true)).hasMessageContaining("Read-only");
    }

    @Test
    void crashWithASeedKeepsOnlySomeUnsynchronizedPages() throws IOException {
        write("a", "", true);
        sync(disk.directory());
        write("a", "x".repeat(64 * 4096), false);
        disk.crash(1);
        String left = Files.readString(path("a"));
        assertThat(left).contains("x").contains("\0");
    }
}
