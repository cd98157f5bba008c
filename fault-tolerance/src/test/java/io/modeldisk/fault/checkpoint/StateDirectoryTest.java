package io.modeldisk.fault.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the directory of a model that two processes of shard 0 use, one of which was paused. */
class StateDirectoryTest {
    private static final ModelFacts MODEL = new ModelFacts("test", 8192, 4096, 0, 1, "sum", "asp", 1, "zeros");

    @TempDir
    private Path folder;
    private StateDirectory state;

    @BeforeEach
    void open() throws IOException {
        state = StateDirectory.open(folder);
    }

    private StateDirectory.Folder request() throws IOException {
        return state.request(CheckpointFacts.of(MODEL, 1), 0);
    }

    @Test
    void processThatWasPausedDoesNotPublishTheFolderOfItsSuccessor() throws IOException {
        StateDirectory.Folder old = request();
        state.cleanUp();
        StateDirectory.Folder next = request();
        assertThat(next.number()).isEqualTo(old.number());
        assertThatThrownBy(() -> state.publish(old, new byte[0])).isInstanceOf(IOException.class);
        assertThat(state.complete()).isEmpty();
        assertThat(state.partial()).isEqualTo(next);
    }

    @Test
    void unfinishedFoldersOfAllVersionsAreDeletedAtTheStart() throws IOException {
        request();
        for (String name : new String[]{"checkpoint-000001.partial", "checkpoint-000002.new",
            "checkpoint-000002.1f.new", "checkpoint-000003.1f.deleted", "checkpoint-000003.2a.partial.1f.deleted"}) {
            Files.createDirectory(folder.resolve(name));
        }
        Files.createDirectory(folder.resolve("checkpoint-000004"));
        state.cleanUp();
        assertThat(folder).isDirectoryContaining("glob:**/checkpoint-000004");
        assertThat(folder.toFile().list()).hasSize(1);
    }

    @Test
    void linkWithTheNameOfAnUnfinishedFolderIsDeletedAndNotFollowed(@TempDir Path outside) throws IOException {
        Path kept = Files.createFile(outside.resolve("kept"));
        for (String name : new String[]{"checkpoint-000777.partial", "checkpoint-000778.1f.deleted"}) {
            Files.createSymbolicLink(folder.resolve(name), outside);
        }
        assertThat(state.partial()).isNull();
        state.cleanUp();
        assertThat(kept).exists();
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void deletionOfAnUnfinishedFolderDoesNotFollowItsLinks(@TempDir Path outside) throws IOException {
        Path kept = Files.createFile(outside.resolve("kept"));
        Path left = Files.createDirectories(folder.resolve("checkpoint-000001.1f.partial/a/b")).getParent();
        Files.createFile(left.resolve("file"));
        Files.createSymbolicLink(left.resolve("link"), outside);
        state.cleanUp();
        assertThat(kept).exists();
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void linkWithTheNameOfACheckpointIsRefused(@TempDir Path outside) throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("checkpoint-000005"), outside);
        assertThatThrownBy(() -> StateDirectory.open(folder)).isInstanceOf(IOException.class)
            .hasMessage(link.toRealPath(LinkOption.NOFOLLOW_LINKS)
                + " is a symbolic link, which is not followed; it must be a directory: move it away or replace it");
    }

    @Test
    void allProcessesReadTheSameIdentity(@TempDir Path other) throws Exception {
        List<Callable<String>> processes = Collections.nCopies(8, () -> StateDirectory.open(folder).identity());
        Set<String> seen = new HashSet<>();
        try (ExecutorService executor = Executors.newCachedThreadPool()) {
            for (Future<String> each : executor.invokeAll(processes)) {
                seen.add(each.get());
            }
        }
        assertThat(seen).hasSize(1).doesNotContain(StateDirectory.open(other).identity());
        assertThat(folder).isDirectoryContaining("glob:**/identity");
        assertThat(folder.toFile().list()).hasSize(1);
    }

    @Test
    void onlyTheOwnerCanReadACheckpoint() throws IOException {
        state.publish(request(), new byte[0]);
        Path checkpoint = state.folder(1);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(checkpoint))).isEqualTo("rwx------");
        for (String name : checkpoint.toFile().list()) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(checkpoint.resolve(name))))
                .isEqualTo("rw-------");
        }
    }
}
