package io.modeldisk.fault.journal;

import static io.modeldisk.fault.journal.Journal.versions;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.test.Await;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JournalTest {
    private static final int BODY_BYTES = 64;
    private static final int RECORD_BYTES = RecordHeader.BYTES + BODY_BYTES;
    private static final int BATCH = SegmentHeader.BYTES;

    @TempDir
    private Path state;

    private Path directory() {
        return state.resolve("journal/shard-00000-of-00001");
    }

    private List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.list(directory())) {
            return files.filter(file -> !file.endsWith("lock")).sorted().toList();
        }
    }

    /** Writes batches as a process that is killed afterwards. */
    private void writeAndDie(int... batches) throws IOException {
        Journal journal = new Journal(state).bodyBytes(BODY_BYTES);
        for (int count : batches) {
            journal.push(count);
        }
        journal.die();
    }

    /** Flips these bits of a byte in the first segment. */
    private void damage(int at, int bits) throws IOException {
        byte[] bytes = Files.readAllBytes(segments().getFirst());
        bytes[at] ^= (byte) bits;
        Files.write(segments().getFirst(), bytes);
    }

    private void assertRefused(String... parts) {
        assertThatThrownBy(() -> new Journal(state)).isInstanceOf(DamagedJournalException.class)
            .hasMessageContainingAll(parts);
    }

    private void replays(long last) throws IOException {
        try (Journal journal = new Journal(state)) {
            assertThat(journal.replayed()).isEqualTo(versions(1, last));
            assertThat(journal.next()).isEqualTo(last + 1);
        }
    }

    @Test
    void recordsAreReadInTheirOrderAfterEachStart() throws IOException {
        try (Journal journal = new Journal(state)) {
            assertThat(journal.replayed()).isEmpty();
            journal.push(3).push(1);
        }
        try (Journal journal = new Journal(state)) {
            assertThat(journal.replayed()).isEqualTo(versions(1, 4));
            journal.push(2);
        }
        replays(6);
        replays(6);
        assertThat(segments()).hasSize(2);
    }

    @Test
    void linksAreNotFollowed(@TempDir Path outside) throws IOException {
        Path kept = Files.writeString(outside.resolve("kept"), "text");
        writeAndDie(2);
        Files.createSymbolicLink(directory().resolve("000000000009.records.new"), kept);
        Path left = Files.createDirectories(directory().resolve("000000000008.records.new/inner"));
        Files.createSymbolicLink(left.resolve("link"), outside);
        replays(2);
        assertThat(left.getParent()).doesNotExist();
        Path segment = directory().resolve("000000000009.records");
        Files.createSymbolicLink(segment, kept);
        assertThatThrownBy(() -> new Journal(state)).hasMessageStartingWith(
            segment + " is a symbolic link, which is not followed");
        assertThat(kept).hasContent("text");
    }

    @Test
    void linkedDirectoryIsRefused(@TempDir Path outside) throws IOException {
        Path link = Files.createSymbolicLink(state.resolve("journal"), outside);
        assertThatThrownBy(() -> new Journal(state)).hasMessageStartingWith(
            link + " is a symbolic link, which is not followed; it must be a directory");
    }

    @Test
    void onlyTheOwnerCanReadTheJournal() throws IOException {
        writeAndDie(1);
        assertThat(directory()).satisfies(path -> assertThat(Files.getPosixFilePermissions(path))
            .isEqualTo(PosixFilePermissions.fromString("rwx------")));
        assertThat(segments()).allSatisfy(path -> assertThat(Files.getPosixFilePermissions(path))
            .isEqualTo(PosixFilePermissions.fromString("rw-------")));
    }

    @Test
    void lastBatchIsCutOffIfItsEndIsMissing() throws IOException {
        writeAndDie(2, 1);
        Path segment = segments().getFirst();
        byte[] whole = Files.readAllBytes(segment);
        int lastBatch = Math.toIntExact(SegmentHeader.BYTES + BatchHeader.paddedBytes(2 * RECORD_BYTES));
        int end = lastBatch + BatchHeader.BYTES + RECORD_BYTES;
        for (int length = lastBatch; length < end; length++) {
            Files.write(segment, Arrays.copyOf(whole, length));
            try (Journal journal = new Journal(state)) {
                assertThat(journal.replayed()).as("%d bytes", length).isEqualTo(versions(1, 2));
            }
            assertThat(Files.size(segment)).isEqualTo(lastBatch);
        }
        Files.write(segment, Arrays.copyOf(whole, end));
        replays(3);
    }

    @Test
    void zerosAndGarbageBehindTheLastBatchAreCutOff() throws IOException {
        writeAndDie(2);
        Path segment = segments().getFirst();
        long end = Files.size(segment);
        for (byte value : new byte[]{0, 0x5A}) {
            byte[] tail = new byte[10_000];
            Arrays.fill(tail, value);
            Files.write(segment, tail, StandardOpenOption.APPEND);
            replays(2);
            assertThat(Files.size(segment)).isEqualTo(end);
        }
    }

    @Test
    void flippedBitIsRefusedUnlessItIsInTheLastBatch() throws IOException {
        writeAndDie(1, 1, 1);
        Path segment = segments().getFirst();
        byte[] whole = Files.readAllBytes(segment);
        int batchBytes = Math.toIntExact(BatchHeader.paddedBytes(RECORD_BYTES));
        for (int at = BATCH; at < BATCH + 3 * batchBytes; at += (at - BATCH) % batchBytes < 192 ? 5 : 300) {
            int batch = (at - BATCH) / batchBytes;
            boolean padding = (at - BATCH) % batchBytes >= BatchHeader.BYTES + RECORD_BYTES;
            byte[] damaged = whole.clone();
            damaged[at] ^= 0x10;
            Files.write(segment, damaged);
            if (padding) {
                replays(3);
            } else if (batch == 2) {
                replays(2);
            } else {
                assertRefused(segment + " is damaged at byte " + (BATCH + batch * batchBytes),
                    "acknowledged pushes would be lost", "move " + state.resolve("journal") + " away");
            }
        }
    }

    @Test
    void damagedLastBatchIsRefusedAfterAnOrderlyStop() throws IOException {
        try (Journal journal = new Journal(state)) {
            journal.push(1);
        }
        damage(BATCH + BatchHeader.BYTES + 1000, 1);
        assertRefused("record 1 is damaged", "a later batch follows at byte 12288");
    }

    @Test
    void missingSegmentIsRefused() throws IOException {
        for (int i = 0; i < 3; i++) {
            writeAndDie(2);
        }
        Files.delete(segments().get(1));
        assertRefused("begins with record 5, but the segment before it ends with record 2");
        Files.delete(segments().getFirst());
        assertRefused("needs a checkpoint, but there is none");
    }

    @Test
    void journalOfAnotherModelIsRefused() throws IOException {
        writeAndDie(1);
        assertThatThrownBy(() -> new Journal(state, Journal.facts("other", "sum"), 0, 1 << 20))
            .isInstanceOf(DamagedJournalException.class).hasMessageContaining("is of another model")
            .hasMessageContaining("give another directory with --state");
    }

    @Test
    void journalWithOtherOptionsIsRefusedIfTheCheckpointLacksItsPushes() throws IOException {
        writeAndDie(1);
        assertThatThrownBy(() -> new Journal(state, Journal.facts("m", "sgd:lr=0.1"), 0, 1 << 20))
            .hasMessageContaining("has pushes that the newest checkpoint does not have, and other options")
            .hasMessageContaining("Start all shards once with the old options and stop them with SIGTERM");
    }

    @Test
    void journalWithOtherOptionsIsDeletedIfTheCheckpointHasItsPushes() throws IOException {
        Journal old = new Journal(state).push(1).roster(0, 0, 0).block(77);
        long history = old.sink().history();
        old.die();
        try (Journal journal = new Journal(state, Journal.facts("m", "sgd:lr=0.1"), 77, 1 << 20)) {
            assertThat(journal.replayed()).isEmpty();
            assertThat(journal.next()).isEqualTo(1);
            assertThat(journal.sink().history()).isEqualTo(history);
        }
        new Journal(state, Journal.facts("m", "sgd:lr=0.1"), 77, 1 << 20).push(1).die();
        assertThatThrownBy(() -> Journal.after(77, state))
            .hasMessageContaining("has pushes that the newest checkpoint does not have");
    }

    @Test
    void journalForADifferentNumberOfShardsIsDeletedIfTheCheckpointHasItsPushes() throws IOException {
        new Journal(state).push(1).roster(0, 0, 0).block(77).die();
        ModelFacts two = new ModelFacts("m", 1 << 20, 4096, 0, 2, "sum", "asp", 1, "zeros");
        assertThatThrownBy(() -> new OldJournals(two, 78).deleteOtherNumber(state))
            .hasMessageContaining("has pushes that the newest checkpoint does not have");
        new OldJournals(two, 77).deleteOtherNumber(state);
        assertThat(directory()).doesNotExist();
    }

    @Test
    void journalThatAnotherProcessUsesIsRefused() throws IOException {
        try (Journal journal = new Journal(state)) {
            journal.push(1);
            assertThatThrownBy(() -> new Journal(state)).hasMessageContaining("another process uses the journal");
        }
    }

    @Test
    void startWaitsForALimitedTimeForAProcessThatUsesTheJournal() throws Exception {
        Journal former = new Journal(state).push(1);
        ModelFacts facts = Journal.facts("m", "sum");
        ManualClock clock = new ManualClock();
        JournalSettings patient = new JournalSettings(state, 0, Duration.ofSeconds(60));
        CompletableFuture<Void> start = CompletableFuture.runAsync(() -> {
            try {
                JournalDirectory.open(patient, facts, clock).close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        Await.await("the start waits", () -> clock.waitingThreads() > 0 || start.isDone());
        assertThat(start).isNotDone();
        former.close();
        Await.await("the start continues", () -> {
            clock.advance(Duration.ofMillis(100));
            return start.isDone();
        });
        assertThat(start).isCompleted();
        try (Journal other = new Journal(state)) {
            other.push(2);
            JournalSettings hasty = new JournalSettings(state, 0, Duration.ofMillis(1));
            assertThatThrownBy(() -> JournalDirectory.open(hasty, facts, NanoClock.SYSTEM))
                .hasMessageContaining("another process uses the journal").hasMessageContaining("is paused, end it");
        }
    }

    @Test
    void newerFormatIsRefused() throws IOException {
        writeAndDie(1);
        damage(8, 1 ^ 2);
        assertRefused("has format 2", "use the version of modeldisk that wrote it");
    }

    @Test
    void damagedHeaderOfASegmentIsRefused() throws IOException {
        writeAndDie(1);
        damage(50, 1);
        assertRefused("its header is damaged");
    }

    @Test
    void unfinishedSegmentIsDeleted() throws IOException {
        writeAndDie(1);
        Files.write(directory().resolve("000000000002.records.new"), new byte[17]);
        replays(1);
        assertThat(segments()).hasSize(1);
    }

    @Test
    void cutDeletesTheSegmentsBeforeACheckpoint() throws IOException {
        try (Journal journal = new Journal(state)) {
            journal.push(2).roster(1, 1, 1);
            long begin = 4;
            journal.push(1);
            assertThat(segments()).hasSize(2);
            journal.sink().cut(begin);
            assertThat(segments()).hasSize(1);
            assertThat(journal.sink().bytes()).isEqualTo(Files.size(segments().getFirst()));
            assertThat(journal.sink().segments()).isEqualTo(1);
        }
        try (Journal journal = Journal.after(1, state)) {
            assertThat(journal.replayed()).isEqualTo(versions(4, 6));
            journal.push(1);
        }
        assertRefused("needs a checkpoint, but there is none");
    }

    @Test
    void segmentsBeforeAnUnfinishedCheckpointAreKept() throws IOException {
        Journal journal = new Journal(state);
        journal.push(2).roster(0, 2, 1).push(1).die();
        replays(6);
    }

    @Test
    void journalThatBeganAtACheckpointIsReadFromItsFirstRecord() throws IOException {
        try (Journal journal = Journal.after(77, state)) {
            journal.push(2);
        }
        try (Journal journal = Journal.after(77, state)) {
            assertThat(journal.begin()).isZero();
        }
        try (Journal journal = Journal.after(78, state)) {
            assertThat(journal.begin()).isEqualTo(78);
        }
        assertRefused("needs a checkpoint, but there is none");
    }

    @Test
    void historyStaysTheSameUntilTheJournalIsMovedAway() throws IOException {
        Journal journal = new Journal(state).push(1);
        long history = journal.sink().history();
        journal.die();
        try (Journal again = new Journal(state).push(1)) {
            assertThat(again.sink().history()).isEqualTo(history);
        }
        Files.move(state.resolve("journal"), state.resolve("moved"));
        try (Journal again = new Journal(state)) {
            assertThat(again.sink().history()).isNotEqualTo(history);
        }
    }

    @Test
    void fullSegmentIsFollowedByAnother() throws IOException {
        try (Journal journal = new Journal(state, Journal.facts("m", "sum"), 0, 40_000)) {
            for (int i = 0; i < 20; i++) {
                journal.push(2);
            }
            assertThat(segments()).hasSizeGreaterThan(5).allMatch(file -> file.toFile().length() <= 40_000);
        }
        replays(40);
    }
}
