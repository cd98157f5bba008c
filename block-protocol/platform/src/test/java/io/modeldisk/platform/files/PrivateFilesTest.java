package io.modeldisk.platform.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class PrivateFilesTest {
    @TempDir
    private Path folder;

    @Test
    void symbolicLinkIsNotOpened() throws IOException {
        Path target = Files.writeString(folder.resolve("target"), "text");
        Path link = Files.createSymbolicLink(folder.resolve("link"), target);
        Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("none"));
        for (Path each : new Path[]{link, dangling}) {
            assertThatThrownBy(() -> PrivateFiles.open(each, StandardOpenOption.WRITE, StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING)).hasMessage(
                    each + " is a symbolic link, which is not followed; it must be a regular file: move it away or"
                        + " replace it");
        }
        assertThat(target).hasContent("text");
        assertThat(folder.resolve("none")).doesNotExist();
    }

    @Test
    void fifoIsRefusedWithoutAWaitForItsOtherEnd() throws Exception {
        Path fifo = folder.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
        assertThatThrownBy(() -> PrivateFiles.readAllBytes(fifo))
            .hasMessageStartingWith(fifo + " is a special file; it must be a regular file");
    }

    @Test
    void missingFileIsReportedAsMissing() {
        assertThatThrownBy(() -> PrivateFiles.readAllBytes(folder.resolve("none")))
            .isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void onlyTheOwnerCanReadCreatedFilesAndDirectories() throws IOException {
        try (FileChannel _ = PrivateFiles.open(folder.resolve("opened"), StandardOpenOption.WRITE,
            StandardOpenOption.CREATE)) {
            DurableFiles.write(folder.resolve("written"), new byte[1]);
        }
        DurableFiles.createDirectories(folder.resolve("a/b"));
        assertThat(permissions("opened")).isEqualTo("rw-------");
        assertThat(permissions("written")).isEqualTo("rw-------");
        assertThat(permissions("a")).isEqualTo("rwx------");
        assertThat(permissions("a/b")).isEqualTo("rwx------");
    }

    private String permissions(String name) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(name)));
    }
}
