package io.modeldisk.fault.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.fault.model.ModelSource;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.fake.CountingAggregator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes blocks of a shard while a snapshot saves them, and then loads the saved blocks. */
class SnapshotTest {
    private static final int BLOCK = 4096;
    private static final int BLOCKS = 40;
    private static final IntToLongFunction NO_ROUNDS = _ -> -1;

    @TempDir
    private Path folder;
    private final ModelFacts model = new ModelFacts("test", (long) BLOCK * BLOCKS, BLOCK, 0, 1, "sum", "asp", 1,
        "zeros");
    private final WeightFiles files = WeightFiles.of(ModelSource.ofSize(model.sizeBytes()).tensors(), Map.of(),
        1 << 30);
    private final BlockStore store = newStore();
    private final AtomicInteger wakes = new AtomicInteger();
    private final AtomicReference<Runnable> whenFilled = new AtomicReference<>();
    private final BlockCopies copies = new BlockCopies(BLOCK, LogicalBlock.BYTES, this::filled);
    private final ReadClock clock = new ReadClock();
    private StateDirectory state;
    private StateDirectory.Folder checkpoint;
    private PartWriter writer;

    private static BlockStore newStore() {
        return new BlockStore(new BlockLayout((long) BLOCK * BLOCKS, BLOCK), 2, LogicalBlock.BYTES);
    }

    @BeforeEach
    void openCheckpoint() throws IOException {
        state = StateDirectory.open(folder);
        CheckpointFacts facts = CheckpointFacts.of(model, 1);
        checkpoint = state.request(facts, 0);
        writer = new PartWriter(checkpoint, facts, 0, store.layout(), LogicalBlock.BYTES, files,
            clock);
        for (int i = 0; i < BLOCKS; i++) {
            change(i, i);
        }
    }

    @AfterEach
    void close() {
        writer.close();
        store.close();
    }

    private void filled() {
        wakes.incrementAndGet();
        Runnable once = whenFilled.getAndSet(null);
        if (once != null) {
            once.run();
        }
    }

    private Snapshot snapshot(IntToLongFunction rounds) {
        return snapshot(rounds, block -> {});
    }

    private Snapshot snapshot(IntToLongFunction rounds, Snapshot.Listener whenSaved) {
        Snapshot snapshot = new Snapshot(store, rounds, writer, copies, whenSaved, -1);
        store.watch(snapshot);
        return snapshot;
    }

    private void change(int index, float value) {
        Block block = store.block(index);
        try (ScopedLock.Held _ = block.hold()) {
            block.writable().weights().set(ValueLayout.JAVA_FLOAT, 0, value);
            block.state().set(ValueLayout.JAVA_FLOAT, 8, value);
            block.updated();
        }
    }

    private void assertSavedBeforeTheChanges() throws IOException {
        writer.finish(List.of());
        state.publish(checkpoint, files.index());
        try (BlockStore loaded = newStore()) {
            new CheckpointLoader(model, loaded, new CountingAggregator(), files).loadNewest(state,
                CheckpointSettings.ANY);
            for (int i = 0; i < BLOCKS; i++) {
                assertThat(loaded.block(i).readable().weights().get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(i);
                assertThat(loaded.block(i).state().get(ValueLayout.JAVA_FLOAT, 8)).isEqualTo(i);
                assertThat(loaded.block(i).version()).isEqualTo(1);
            }
        }
    }

    @Test
    void snapshotDoesNotContainAPushMadeWhileItSavesBlocks() throws IOException {
        // The snapshot reads the round of block 10 after it has saved blocks 0 to 9.
        Snapshot snapshot = snapshot(index -> {
            if (index == 10 && wakes.get() == 0) {
                wakes.incrementAndGet();
                change(3, 1000);
                change(25, 1000);
            }
            return -1;
        });
        assertThat(snapshot.sweep()).isTrue();
        assertSavedBeforeTheChanges();
    }

    @Test
    void progressIncreasesWhileBlocksAreWrittenAndSynced() throws IOException {
        Snapshot snapshot = snapshot(NO_ROUNDS);
        List<Long> shown = new ArrayList<>();
        clock.whenRead = () -> {
            clock.nowNs += Duration.ofSeconds(1).toNanos();
            shown.add(shownProgress());
        };
        assertThat(snapshot.sweep()).isTrue();
        assertThat(shown.stream().distinct()).hasSize(BLOCKS + 1);
        shown.clear();
        writer.finish(List.of());
        assertThat(shown.stream().distinct())
            .as("values shown while the file of weights and the file of the part reach the disk")
            .hasSize(3);
        assertThat(shownProgress()).as("progress after the end").isNotIn(shown);
    }

    private long shownProgress() {
        try {
            return PartWriter.shownProgress(checkpoint, 0, 1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A clock that calls an action when it is read. */
    private static final class ReadClock implements NanoClock {
        private long nowNs;
        private Runnable whenRead = () -> {};

        @Override
        public long nanoTime() {
            whenRead.run();
            return nowNs;
        }

        @Override
        public boolean awaitUntil(Condition condition, long deadlineNs) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void sleepUntil(long deadlineNs) {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void pushesDuringASnapshotAreNotSavedEvenIfAllCopiesAreInUse() throws IOException {
        Snapshot snapshot = snapshot(NO_ROUNDS);
        for (int i = 0; i < BLOCKS; i++) {
            change(i, 1000);
            change(i, 2000);
        }
        assertThat(wakes.get()).as("number of blocks that were copied").isEqualTo(CheckpointSettings.COPIES - 1);
        assertThat(snapshot.sweep()).isTrue();
        assertSavedBeforeTheChanges();
    }

    @Test
    void pushDoesNotWriteToTheDiskWhileACopyIsFree() throws IOException {
        Snapshot snapshot = snapshot(NO_ROUNDS);
        // The files are closed, so a push that writes to the disk would fail.
        writer.close();
        for (int i = 0; i < CheckpointSettings.COPIES - 1; i++) {
            change(i, 1000);
        }
        assertThat(wakes.get()).as("number of blocks that were copied").isEqualTo(CheckpointSettings.COPIES - 1);
        change(20, 1000);
        assertThatThrownBy(snapshot::sweep).isInstanceOf(IOException.class);
    }

    @Test
    void pushThatOutlastsItsSnapshotDiscardsNoCopyOfTheNextSnapshot() throws IOException {
        Snapshot stopped = snapshot(NO_ROUNDS);
        AtomicReference<Snapshot> next = new AtomicReference<>();
        whenFilled.set(() -> {
            stopped.stop();
            next.set(snapshot(NO_ROUNDS));
            change(5, 1000);
        });
        change(3, 1000);
        assertThat(next.get().sweep()).isTrue();
        assertSaved(5, 5);
        assertAllCopiesAreFree();
    }

    @Test
    void pushThatOutlastsItsSnapshotAddsNoCopyToTheNextSnapshot() throws IOException {
        AtomicReference<Snapshot> stopped = new AtomicReference<>();
        AtomicReference<Snapshot> next = new AtomicReference<>();
        stopped.set(snapshot(NO_ROUNDS, _ -> {
            stopped.get().stop();
            next.set(snapshot(NO_ROUNDS));
        }));
        whenFilled.set(() -> {
            try {
                assertThat(next.get().sweep()).isTrue();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        change(3, 1000);
        assertSaved(BLOCKS - 1, BLOCKS - 1);
        assertAllCopiesAreFree();
    }

    private void assertSaved(int index, float value) throws IOException {
        writer.finish(List.of());
        state.publish(checkpoint, files.index());
        try (BlockStore loaded = newStore()) {
            new CheckpointLoader(model, loaded, new CountingAggregator(), files).loadNewest(state,
                CheckpointSettings.ANY);
            assertThat(loaded.block(index).readable().weights().get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(value);
        }
    }

    private void assertAllCopiesAreFree() {
        for (int i = 1; i < CheckpointSettings.COPIES; i++) {
            assertThat(copies.free()).isNotNull();
        }
    }

    @Test
    void copiesAreFreeAfterASnapshotWasStopped() throws IOException {
        Snapshot stopped = snapshot(NO_ROUNDS);
        for (int i = 0; i < CheckpointSettings.COPIES; i++) {
            change(i, 1000);
        }
        stopped.stop();
        change(30, 1000);
        assertAllCopiesAreFree();
    }
}
