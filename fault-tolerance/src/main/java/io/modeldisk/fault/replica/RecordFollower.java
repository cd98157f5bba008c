package io.modeldisk.fault.replica;

import io.modeldisk.fault.record.BlockStamps;
import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.RecordAssembly;
import io.modeldisk.fault.record.RecordConsumer;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.BitSet;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Applies the records of the primary to the shard of a backup.
 *
 * <pre>
 *              beginStream                 beginStream (of the same or a later epoch)
 *   WAITING ----------------> FOLLOWING -----------------+
 *      |  ^   refused records     |  ^                   |
 *      |  +-----------------------+  +-------------------+
 *      |                          |
 *      |         promote          |
 *      +-----------+--------------+
 *                  v
 *              PROMOTED
 * </pre>
 *
 * <p>From the first write of a stream, no block is current, because the backup might have missed records. An IMAGE and the BLOCK
 * after it make their block current. An IMAGE without data has only the primary's stamp of the block, and makes the block current
 * if the backup has the same stamp. Other records are applied only to current blocks. Records of learners are applied after the
 * first ROSTER of the stream.
 *
 * <p>Thread-safe.
 */
public final class RecordFollower implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(RecordFollower.class);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final int NONE = -1;

    /** The states of a follower. */
    private enum State {
        /** No primary sends records. */
        WAITING,
        /** A primary sends records. */
        FOLLOWING,
        /** This process is the primary, and accepts no records. */
        PROMOTED
    }

    private final RecordConsumer player;
    private final BlockStamps stamps;
    private final RecordAssembly assembly;
    private final BitSet current;
    private final ScopedLock lock = new ScopedLock();
    // Guarded by lock.
    private State state = State.WAITING;
    private Nexus primary;
    private long epoch;
    /** Records of an earlier epoch than this one are refused, because a later primary exists. */
    private long lowestEpoch;
    private long batch;
    private boolean hasRoster;
    /** True after the first write of the stream. Until then, the shard is in the state in which the last stream left it. */
    private boolean written;
    /** True after the first write of any stream. */
    private boolean changed;
    private long lastPosition;
    /** The block of the last record, if it was an image with data. */
    private int imageBlock = NONE;

    /**
     * Creates a follower.
     *
     * @param player applies records to the shard, which serves no learner
     * @param stamps the stamps of the shard's blocks
     * @param batchBytes the maximum length of a batch of records, a multiple of 4096
     * @param lowestEpoch the lowest epoch whose records are accepted, at least 0
     */
    public RecordFollower(RecordConsumer player, BlockStamps stamps, int batchBytes, long lowestEpoch) {
        this.player = player;
        this.stamps = stamps;
        this.assembly = new RecordAssembly(batchBytes);
        this.current = new BitSet(stamps.blocks());
        this.lowestEpoch = lowestEpoch;
    }

    /** The maximum length of a batch of records in bytes. */
    public int batchBytes() {
        return assembly.capacityBytes();
    }

    /**
     * Begins a stream of records. This ends the stream of any other nexus.
     *
     * @return the position of the last record that was applied; 0 if there is none
     * @throws ScsiException if the epoch is older than that of an earlier primary, or this process is the primary
     */
    long beginStream(Nexus nexus, long ofEpoch) throws ScsiException {
        try (ScopedLock.Held _ = lock.hold()) {
            if (ofEpoch < Math.max(epoch, lowestEpoch)) {
                throw oldEpoch(nexus);
            }
            if (state == State.PROMOTED) {
                throw new ScsiException(RoundSense.NOT_A_BACKUP.sense(),
                    "'" + nexus.learner() + "' wants to send records, but this process is the primary of epoch "
                        + epoch);
            }
            LOG.info("primary '{}' of epoch {} sends records", nexus.learner(), ofEpoch);
            state = State.FOLLOWING;
            primary = nexus;
            epoch = ofEpoch;
            batch = -1;
            written = false;
            assembly.beginStream();
            return lastPosition;
        }
    }

    private ScsiException oldEpoch(Nexus nexus) {
        return new ScsiException(RoundSense.OLD_EPOCH.sense(), "'" + nexus.learner()
            + "' sends records of an old epoch; the epoch of the primary is " + Math.max(epoch, lowestEpoch));
    }

    /**
     * Applies the records in the data of a write, and the records of earlier writes that are complete now.
     *
     * @throws ScsiException if the stream of the nexus has ended, or the records are damaged, which ends the stream
     */
    void write(IoTask task) throws ScsiException {
        try (ScopedLock.Held _ = lock.hold()) {
            if (state != State.FOLLOWING || !primary.equals(task.nexus()) || epoch < lowestEpoch) {
                throw oldEpoch(task.nexus());
            }
            if (!written) {
                written = true;
                changed = true;
                hasRoster = false;
                imageBlock = NONE;
                current.clear();
            }
            try {
                place(task);
                for (RecordHeader record = assembly.next(); record != null; record = assembly.next()) {
                    apply(record);
                }
            } catch (DamagedRecordException e) {
                state = State.WAITING;
                LOG.warn(
                    "the records of primary '{}' cannot be applied; the primary must send the changed blocks again: {}",
                    primary.learner(), e.getMessage());
                throw new ScsiException(RoundSense.RECORDS_REFUSED.sense(), e.getMessage());
            } catch (RuntimeException | Error e) {
                state = State.WAITING;
                throw e;
            }
        }
    }

    private void place(IoTask task) throws DamagedRecordException {
        long ofBatch = task.offset() / batchBytes();
        int offset = (int) (task.offset() % batchBytes());
        if (ofBatch == batch + 1) {
            assembly.beginBatch();
            batch++;
        }
        if (ofBatch != batch || task.lengthBytes() > batchBytes() - offset) {
            throw new DamagedRecordException(
                "a write of " + task.lengthBytes() + " bytes at byte " + offset + " of batch "
                    + ofBatch + " does not belong to batch " + batch);
        }
        for (int i = 0; i < task.pieceCount(); i++) {
            long from = task.pieceOffset(i);
            for (int done = 0; done < task.pieceLengthBytes(i);) {
                int lengthBytes = Math.min(task.pieceLengthBytes(i) - done, task.memory().bytesLeftInSlab(from + done));
                assembly.put(offset, task.memory().slab(from + done), DataMemory.offsetInSlab(from + done),
                    lengthBytes);
                done += lengthBytes;
                offset += lengthBytes;
            }
        }
    }

    private void apply(RecordHeader record) throws DamagedRecordException {
        if (record.epoch() != epoch) {
            throw new DamagedRecordException(record + " is of epoch " + record.epoch() + " instead of " + epoch);
        }
        switch (record.kind()) {
            case ROSTER -> {
                player.apply(record);
                hasRoster = true;
            }
            case LEARNER, RATE -> {
                if (hasRoster) {
                    player.apply(record);
                }
            }
            case IMAGE -> applyImage(record);
            case BLOCK -> {
                // Only a BLOCK that follows the image of its block is applied. Any other BLOCK comes from a checkpoint of the
                // primary, which changes no block.
                if (record.block() == imageBlock) {
                    player.apply(record);
                    current.set(imageBlock);
                }
                imageBlock = NONE;
            }
            default -> {
                if (current.get(record.block())) {
                    player.apply(record);
                    stamps.set(record.block(), record.epoch(), record.position());
                }
            }
        }
        lastPosition = record.position();
    }

    private void applyImage(RecordHeader record) throws DamagedRecordException {
        int block = record.block();
        if (block == BlockImage.NO_BLOCK) {
            player.apply(record);
            return;
        }
        if (current.get(block)) {
            return;
        }
        if (!record.has(RecordHeader.WITHOUT_DATA)) {
            player.apply(record);
            stamps.set(block, BlockImage.stampEpoch(record), BlockImage.stampPosition(record));
            imageBlock = block;
        } else if (stamps.is(block, BlockImage.stampEpoch(record), BlockImage.stampPosition(record))) {
            current.set(block);
        }
    }

    /** Copies the stamps of the blocks, from byte {@code offset} of the table of stamps. Zeros follow the table. */
    void copyStamps(long offset, MemorySegment to, long toOffset, int lengthBytes) {
        try (ScopedLock.Held _ = lock.hold()) {
            for (int at = 0; at < lengthBytes; at += BlockStamps.BYTES) {
                long block = (offset + at) / BlockStamps.BYTES;
                boolean exists = block < stamps.blocks();
                to.set(LONG, toOffset + at, exists ? stamps.epoch((int) block) : 0);
                to.set(LONG, toOffset + at + Long.BYTES, exists ? stamps.position((int) block) : 0);
            }
        }
    }

    /**
     * Refuses the records of earlier epochs from now on. A former primary might still send them until it notices its successor.
     */
    public void refuseBefore(long newLowestEpoch) {
        try (ScopedLock.Held _ = lock.hold()) {
            lowestEpoch = Math.max(lowestEpoch, newLowestEpoch);
        }
    }

    /**
     * Ends the stream and accepts no more records.
     *
     * @param newEpoch the epoch of this process as the primary
     * @return the position of the last record that was applied; 0 if there is none
     */
    public long promote(long newEpoch) {
        try (ScopedLock.Held _ = lock.hold()) {
            state = State.PROMOTED;
            epoch = newEpoch;
            return lastPosition;
        }
    }

    /** The epoch of the primary that sends records, or has sent the last records; 0 if there was none. */
    public long epoch() {
        try (ScopedLock.Held _ = lock.hold()) {
            return epoch;
        }
    }

    /** Returns whether the shard still has the weights of its start, because no primary has changed it. */
    public boolean isInitial() {
        try (ScopedLock.Held _ = lock.hold()) {
            return !changed;
        }
    }

    /** Returns whether the shard has all blocks and learners of a primary. Otherwise, blocks might date from different times. */
    public boolean isWhole() {
        try (ScopedLock.Held _ = lock.hold()) {
            return hasRoster && current.cardinality() == stamps.blocks();
        }
    }

    /** The number of blocks that might be older than those of the primary. */
    public int oldBlocks() {
        try (ScopedLock.Held _ = lock.hold()) {
            return state == State.FOLLOWING ? stamps.blocks() - current.cardinality() : stamps.blocks();
        }
    }

    /** Frees the memory. May be called only when no task is in progress. */
    @Override
    public void close() {
        assembly.close();
    }
}
