package io.modeldisk.server.kept;

import io.modeldisk.fault.shard.ChangeListener;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.KeepRoundCommand.Result;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.block.BlockStore;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToLongFunction;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Keeps the weights of one round for the initiators that read it, while pushes continue. Before a thread changes a block that a
 * reader still needs, the thread copies the block, so a push never waits for a reader. All readers share the copy, so a block is
 * copied at most once in a round. If all places for copies are in use, the readers that still need the block lose the round.
 *
 * <p>At any time, all readers read the same round. A reader of another round is admitted when the current readers have ended or
 * have not pulled for {@value #IDLE_S} s. In a mode without rounds that close, nothing is copied: a reader gets the current
 * weights of each block, and the versions of the blocks.
 *
 * <p>Thread-safe. Allocates no memory while blocks are changed or pulled.
 */
public final class RoundKeeper implements ChangeListener, AutoCloseable {
    /** A reader that has not pulled for this many seconds is removed when another nexus reads another round. */
    static final int IDLE_S = 10;

    /** The maximum number of simultaneous readers. */
    static final int MAX_READERS = 256;

    private static final Logger LOG = LogManager.getLogger(RoundKeeper.class);
    private static final long NO_ROUND = -1;
    private static final KeptReader[] NOBODY = {};

    private final BlockStore store;
    private final IntToLongFunction rounds;
    private final boolean hasRounds;
    private final int copyCount;
    private final NanoClock clock;
    /** Null until the first reader of a round. Written once, under the monitor of this object. */
    private volatile KeptCopies copies;
    // Written under the monitor of this object. The round changes only while there are no readers.
    private volatile KeptReader[] readers = NOBODY;
    private volatile long round = NO_ROUND;

    /**
     * Creates a keeper without readers. The keeper listens to the changes of the store.
     *
     * @param rounds returns the number of closed rounds of a block; without the lock of the block, it may be slightly too low
     * @param hasRounds whether the mode has rounds that close
     * @param keptBytes the memory for copies, in bytes; allocated when the first nexus reads a round
     */
    public RoundKeeper(BlockStore store, IntToLongFunction rounds, boolean hasRounds, long keptBytes, NanoClock clock) {
        this.store = store;
        this.rounds = rounds;
        this.hasRounds = hasRounds;
        this.copyCount = (int) Math.min(store.layout().blocks(), keptBytes / store.layout().blockSizeBytes());
        this.clock = clock;
        store.keep(this);
    }

    /** The memory of the copies for readers, in bytes. */
    public long usedBytes() {
        KeptCopies current = copies;
        return current == null ? 0 : current.usedBytes();
    }

    /** The maximum of {@link #usedBytes}; 0 in a mode without rounds that close. */
    public long limitBytes() {
        return !hasRounds ? 0 : (long) copyCount * store.layout().blockSizeBytes();
    }

    /** The lowest and the highest number of closed rounds of a range of blocks; -1 in a mode without rounds that close. */
    public record Rounds(long min, long max) {}

    /** Returns how many rounds the blocks of a range have closed. Takes no locks, because it is called often during waits. */
    public Rounds rounds(int first, int end) {
        long min = Long.MAX_VALUE;
        long max = Long.MIN_VALUE;
        for (int i = first; i < end; i++) {
            long closed = rounds.applyAsLong(i);
            min = Math.min(min, closed);
            max = Math.max(max, closed);
        }
        return new Rounds(min, max);
    }

    /** The round that is kept now; -1 if there is none. */
    public long round() {
        return round;
    }

    /**
     * Keeps a round of a range of blocks for a nexus from now on. An earlier range of the nexus ends.
     *
     * @param wanted the round, which may still be open in some blocks; ignored in a mode without rounds that close
     * @return DONE if the round is kept; PASSED if its weights are gone; OTHER_ROUND if the other readers read another round, or
     *     if there are too many readers
     */
    public synchronized Result keep(Nexus nexus, long wanted, int first, int end) {
        end(nexus);
        long nowNs = clock.nanoTime();
        if (hasRounds && wanted != round) {
            for (KeptReader reader : readers) {
                if (nowNs - reader.lastUsedNs() > TimeUnit.SECONDS.toNanos(IDLE_S)) {
                    remove(reader);
                }
            }
        }
        if (readers.length == MAX_READERS || hasRounds && readers.length > 0 && wanted != round) {
            return Result.OTHER_ROUND;
        }
        KeptReader reader = new KeptReader(nexus, first, end - first, nowNs);
        if (hasRounds) {
            allocate();
            round = wanted;
        }
        KeptReader[] more = Arrays.copyOf(readers, readers.length + 1);
        more[readers.length] = reader;
        // The reader is added before the blocks are visited, because a change of a block after its visit must find the reader.
        readers = more;
        for (int i = first; i < end; i++) {
            if (!require(reader, i)) {
                remove(reader);
                return Result.PASSED;
            }
        }
        return Result.DONE;
    }

    /** Records that a reader needs a block. Returns false if the weights of the round are gone. */
    private boolean require(KeptReader reader, int index) {
        ShardBlock block = store.block(index);
        try (ScopedLock.Held _ = block.hold()) {
            boolean there = !hasRounds || copies.has(index) || rounds.applyAsLong(index) <= round;
            reader.needs(index, there);
            return there;
        }
    }

    private void allocate() {
        if (copies != null) {
            return;
        }
        int blocks = store.layout().blocks();
        int blockSizeBytes = store.layout().blockSizeBytes();
        try {
            copies = new KeptCopies(blocks, blockSizeBytes, copyCount);
        } catch (OutOfMemoryError e) {
            LOG.warn(
                "too little memory for copies of weights, so a read of one round fails if learners close the next round before"
                    + " the read ends: {}",
                e.getMessage());
            copies = new KeptCopies(blocks, blockSizeBytes, 0);
        }
    }

    /** The result of {@link #end}, with the lowest and the highest version that the reader has pulled. */
    public record End(Result result, long minVersion, long maxVersion) {}

    /** Ends a nexus's reading. The result is LOST if the nexus was not a reader, or did not receive all weights of its round. */
    public synchronized End end(Nexus nexus) {
        KeptReader reader = reader(nexus);
        if (reader == null) {
            return new End(Result.LOST, 0, 0);
        }
        remove(reader);
        return new End(reader.isLost() ? Result.LOST : Result.DONE, reader.minVersion(), reader.maxVersion());
    }

    private void remove(KeptReader gone) {
        readers = Arrays.stream(readers).filter(reader -> reader != gone).toArray(KeptReader[]::new);
        for (int i = gone.first(); i < gone.end(); i++) {
            ShardBlock block = store.block(i);
            try (ScopedLock.Held _ = block.hold()) {
                gone.needs(i, false);
                discardUnneeded(i);
            }
        }
        if (readers.length == 0) {
            round = NO_ROUND;
        }
    }

    /** Discards the copy of a block that no reader needs. The caller holds the lock of the block. */
    private void discardUnneeded(int block) {
        if (copies != null && copies.has(block) && !isNeeded(block)) {
            copies.discard(block);
        }
    }

    private boolean isNeeded(int block) {
        for (KeptReader reader : readers) {
            if (reader.needs(block)) {
                return true;
            }
        }
        return false;
    }

    /** Records that a nexus still waits for its round. */
    public void use(Nexus nexus) {
        KeptReader reader = reader(nexus);
        if (reader != null) {
            reader.used(clock.nanoTime());
        }
    }

    private KeptReader reader(Nexus nexus) {
        for (KeptReader reader : readers) {
            if (reader.nexus().equals(nexus)) {
                return reader;
            }
        }
        return null;
    }

    @Override
    public void beforeChange(ShardBlock block) {
        if (!hasRounds || readers.length == 0) {
            return;
        }
        int index = block.index();
        if (copies.has(index) || rounds.applyAsLong(index) < round || !isNeeded(index) || copies.take(block)) {
            return;
        }
        for (KeptReader reader : readers) {
            if (reader.needs(index)) {
                reader.lose();
                // A later change must not copy the block, because its weights then belong to a later round or are partly changed.
                reader.needs(index, false);
            }
        }
    }

    /**
     * Pins the next piece of a pull, as {@link BlockStore#pin} does. If the nexus is a reader, the piece belongs to the kept
     * round. If that is impossible, the reader loses the round, and {@link #end} returns LOST.
     */
    public void pin(IoTask task, int dataOffset, Pin pin) {
        KeptReader reader = readers.length == 0 ? null : reader(task.nexus());
        if (reader == null) {
            store.pin(task, dataOffset, pin);
            return;
        }
        reader.used(clock.nanoTime());
        long offset = task.offset() + dataOffset;
        int index = store.layout().blockOf(offset);
        int start = store.layout().offsetInBlock(offset);
        ShardBlock block = store.block(index);
        try (ScopedLock.Held _ = block.hold()) {
            long version;
            if (copies != null && copies.has(index)) {
                version = copies.versionOf(index);
                int bytes = Math.min(task.lengthBytes() - dataOffset, block.lengthBytes() - start);
                copyToScratch(task, copies.offsetOf(index) + start, bytes, pin);
            } else {
                version = block.version();
                store.pin(task, dataOffset, pin);
                if (hasRounds && rounds.applyAsLong(index) < round) {
                    // The round has not closed yet.
                    reader.lose();
                }
            }
            boolean last = start + pin.lengthBytes() == block.lengthBytes();
            reader.pulled(index, version, start == 0, last);
            pulled(reader, index, last);
        }
    }

    private void pulled(KeptReader reader, int index, boolean last) {
        if (!reader.needs(index)) {
            // The reader has already pulled the block, or the block is not in its range, so the block may have changed.
            reader.lose();
        } else if (last) {
            reader.needs(index, false);
            discardUnneeded(index);
        }
    }

    private void copyToScratch(IoTask task, long copyOffset, int lengthBytes, Pin pin) {
        long scratch = task.scratchOffset();
        int copied = Math.min(lengthBytes,
            Math.min(task.scratchBytes(), task.memory().bytesLeftInSlab(scratch)));
        DataMemory from = copies.memory();
        MemorySegment.copy(from.slab(copyOffset), DataMemory.offsetInSlab(copyOffset),
            task.memory().slab(scratch), DataMemory.offsetInSlab(scratch), copied);
        pin.set(task.memory(), scratch, copied, null);
    }

    /** Frees the memory. May be called only when no block is in use. */
    @Override
    public synchronized void close() {
        if (copies != null) {
            copies.close();
        }
    }
}
