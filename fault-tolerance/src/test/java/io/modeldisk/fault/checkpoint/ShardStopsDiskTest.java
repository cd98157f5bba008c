package io.modeldisk.fault.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.platform.files.DurableFiles;
import io.modeldisk.test.disk.CrashDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the stop of a shard on a disk that loses unsynchronized data. */
@Timeout(60)
@Tag("mount")
class ShardStopsDiskTest {
    private static final long CHECKPOINT = 3;
    private static final long HISTORY = 77;

    @TempDir
    private Path base;

    @Test
    void historyThatAShardHasTakenDoesNotReappearAfterACrash() throws IOException {
        assumeTrue(Files.isWritable(Path.of("/dev/fuse")), "/dev/fuse is missing");
        try (CrashDisk disk = CrashDisk.mount(Files.createDirectory(base.resolve("disk")))) {
            Path path = disk.directory().resolve("state");
            StateDirectory state = StateDirectory.open(path);
            new ShardStops(state, 0, 1).stopped(CHECKPOINT, HISTORY, List.of());
            DurableFiles.sync(state.path());
            assertThat(new ShardStops(state, 0, 1).takeHistory(CHECKPOINT)).isEqualTo(HISTORY);
            disk.crash();
            assertThat(new ShardStops(StateDirectory.open(path), 0, 1).takeHistory(CHECKPOINT)).isZero();
        }
    }
}
