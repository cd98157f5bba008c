package io.modeldisk.fault.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.test.disk.CrashDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the journal on a disk that fails, is full, or loses unsynchronized data. */
@Timeout(120)
@Tag("mount")
final class JournalDiskTest {
    @TempDir
    private Path base;
    @AutoClose
    private CrashDisk disk;
    private Path state;

    @BeforeEach
    void mount() throws IOException {
        assumeTrue(Files.isWritable(Path.of("/dev/fuse")), "/dev/fuse is missing");
        disk = CrashDisk.mount(Files.createDirectory(base.resolve("disk")));
        state = disk.directory().resolve("state");
    }

    /** Simulates a crash of the process and the machine, and checks that the journal has the records up to {@code last}. */
    private void assertSurvives(Journal journal, long last) throws IOException {
        journal.die();
        disk.crash();
        try (Journal again = new Journal(state)) {
            assertThat(again.replayed()).isEqualTo(Journal.versions(1, last));
        }
    }

    @Test
    void finishedBatchesSurviveACrash() throws IOException {
        Journal journal = new Journal(state);
        journal.push(3).push(2).roster(1, 2, 1);
        journal.sink().begin(journal.batch(5, -1, 0));
        assertSurvives(journal, 9);
    }

    @Test
    void unfinishedBatchIsCutOffIfOnlySomeOfItsPagesSurviveACrash() throws IOException {
        long written = 0;
        for (int seed = 0; seed < 30; seed++) {
            Journal journal = new Journal(state);
            assertThat(journal.replayed()).hasSizeGreaterThanOrEqualTo((int) written);
            assertThat(journal.replayed()).isEqualTo(Journal.versions(1, journal.replayed().size()));
            journal.push(2);
            written = journal.next() - 1;
            journal.sink().begin(journal.batch(4, -1, 0));
            journal.die();
            disk.crash(seed);
        }
    }

    @Test
    void batchIsWrittenAgainToANewSegmentAfterAFailedSync() throws IOException {
        Journal journal = new Journal(state);
        journal.push(2);
        disk.failSyncs(1);
        assertThatThrownBy(() -> journal.push(2)).isInstanceOf(IOException.class);
        assertThat(journal.next()).isEqualTo(3);
        journal.push(2).push(1);
        assertSurvives(journal, 5);
    }

    @Test
    void failedSyncOfTheFirstBatchLosesNothing() throws IOException {
        Journal journal = new Journal(state);
        for (int failures = 1; failures <= 3; failures++) {
            disk.failSyncs(failures);
            for (int i = 0; i < failures; i++) {
                assertThatThrownBy(() -> journal.push(2)).isInstanceOf(IOException.class);
            }
            journal.push(2);
        }
        journal.roster(0, 1, 0);
        disk.failSyncs(1);
        assertThatThrownBy(() -> journal.roster(1, 1, 0)).isInstanceOf(IOException.class);
        journal.roster(1, 1, 0);
        assertSurvives(journal, 11);
    }

    @Test
    void batchIsRefusedByAFullDiskUntilThereIsRoom() throws IOException {
        Journal journal = new Journal(state);
        journal.push(2);
        for (long room = 0; room < 10; room++) {
            disk.capacityBytes(disk.usedBytes() + room * 4096);
            if (room < 4) {
                assertThatThrownBy(() -> journal.push(2)).hasMessageContaining("No space left");
            }
        }
        disk.capacityBytes(1 << 20);
        journal.push(2);
        assertSurvives(journal, 4);
    }

    @Test
    void batchIsRefusedByAReadOnlyDiskUntilItIsWritableAgain() throws IOException {
        Journal journal = new Journal(state);
        journal.push(2);
        disk.readOnly(true);
        assertThatThrownBy(() -> journal.push(2)).hasMessageContaining("Read-only");
        assertThatThrownBy(() -> journal.push(2)).hasMessageContaining("Read-only");
        disk.readOnly(false);
        journal.push(2);
        assertSurvives(journal, 4);
    }

    @Test
    void emptySegmentThatCouldNotBeDeletedIsDeletedByACut() throws IOException {
        Journal journal = new Journal(state);
        journal.push(2);
        journal.sink().begin(journal.batch(2, 0, 1));
        disk.readOnly(true);
        assertThatThrownBy(() -> journal.sink().finish()).hasMessageContaining("Read-only");
        disk.readOnly(false);
        journal.roster(0, 1, 1).roster(0, 1, 2);
        journal.sink().cut(5);
        journal.die();
        disk.crash();
        try (Journal again = Journal.after(2, state)) {
            assertThat(again.replayed()).containsExactly(5L, 6L);
        }
    }

    @Test
    void segmentsThatACutHasDeletedDoNotReappearAfterACrash() throws IOException {
        Journal journal = new Journal(state);
        for (int i = 0; i < 4; i++) {
            journal.roster(0, 2, i + 1);
        }
        journal.sink().cut(10);
        journal.die();
        disk.crash();
        try (Journal again = Journal.after(4, state)) {
            assertThat(again.replayed()).containsExactly(10L, 11L, 12L);
        }
    }
}
