package io.modeldisk.fault.journal;

import io.modeldisk.fault.record.RecordBatch;
import io.modeldisk.fault.record.RecordConsumer;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordSink;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongFunction;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Appends batches of records to the segments of a journal and waits until they are on disk. A new segment begins with each
 * {@link io.modeldisk.fault.record.RecordKind#ROSTER}, so older segments can be deleted after a checkpoint. A new segment also
 * begins when the current one is large.
 *
 * <p>After a failed write or fsync, it is unknown what is on disk, because Linux can discard the data of a failed fsync. The rest
 * of the segment is therefore abandoned, and the batch is written again to a new segment.
 *
 * <p>One thread calls {@link #begin} and {@link #finish}. Any thread may call {@link #cut} and the accessors.
 */
public final class JournalSink implements RecordSink {
    static final long SEGMENT_BYTES = 256L << 20;

    private static final Logger LOG = LogManager.getLogger(JournalSink.class);

    private final JournalDirectory directory;
    private final SegmentHeader.Facts facts;
    private final NanoClock clock;
    private final long limitBytes;
    private final long segmentBytes;
    private final long openedAt;
    private final long base;
    private final long history;
    private final ByteBuffer batchHeader = ByteBuffer.allocateDirect(BatchHeader.BYTES);
    private final ByteBuffer zeros = ByteBuffer.allocateDirect(BatchHeader.ALIGNMENT);
    private final ByteBuffer[] parts = new ByteBuffer[3];
    private final RecordHeader roster = new RecordHeader();

    // Used only by the thread that calls begin() and finish(), and by close().
    private FileChannel channel;
    private SegmentHeader header;
    private long number;
    /** True if the next segment begins the journal. */
    private boolean first;
    private long lastWritten;
    private long lastSynced;
    private long syncedBytes;

    // Guarded by the lock of this object.
    private final Deque<Segment> complete = new ArrayDeque<>();
    private long completeBytes;

    private volatile long writtenBytes;
    private volatile long lastSyncNs;

    /**
     * Creates a sink that continues a journal. The first batch begins a new segment.
     *
     * @param contents what the journal contains
     * @param base the id of the checkpoint from which an empty journal continues; 0 for the initial weights
     * @param limitBytes the size at which the shard requests a checkpoint
     * @param segmentBytes the size at which a segment ends
     */
    JournalSink(JournalDirectory directory, SegmentHeader.Facts facts, JournalContents contents, long base,
        long limitBytes, long segmentBytes, NanoClock clock) {
        this.directory = directory;
        this.facts = facts;
        this.limitBytes = limitBytes;
        this.segmentBytes = segmentBytes;
        this.clock = clock;
        this.base = base;
        this.history = contents.history() != 0 ? contents.history() : ThreadLocalRandom.current().nextLong() | 1;
        this.first = contents.segments().isEmpty();
        this.complete.addAll(contents.segments());
        this.completeBytes = contents.bytes();
        this.number = contents.segments().isEmpty() ? 0 : contents.segments().getLast().number();
        this.openedAt = contents.lastPosition();
    }

    /**
     * Opens the journal of a shard: reads its records, and continues it.
     *
     * @param directory the directory of the shard, which this method closes if it fails
     * @param checkpoint the id of the checkpoint that the shard has loaded; 0 for the initial weights
     * @param consumers creates the receiver of the records that the journal contains; see {@link JournalReader}
     * @throws DamagedJournalException if the journal does not belong to this shard, or lacks records of acknowledged pushes
     */
    public static JournalSink open(
        JournalDirectory directory, JournalSettings settings, ModelFacts facts, long checkpoint,
        LongFunction<RecordConsumer> consumers,
        NanoClock clock)
        throws IOException {
        try {
            OldJournals old = new OldJournals(facts, checkpoint);
            if (facts.shard() == 0) {
                old.deleteOtherNumber(settings.state());
            }
            JournalContents deleted = old.deleteIfOld(directory);
            SegmentHeader.Facts own = SegmentHeader.Facts.of(facts);
            JournalContents contents = deleted != null
                ? deleted
                : JournalReader.read(directory, own, checkpoint, consumers);
            if (contents.records() > 0) {
                LOG.info("the shard continues from {} ({}) of its journal {}",
                    Plural.counted(contents.records(), "record"),
                    ByteSize.format(contents.bytes()), directory.path());
            }
            return new JournalSink(directory, own, contents, checkpoint, settings.limitFor(facts.bytesOfShard()),
                SEGMENT_BYTES, clock);
        } catch (IOException | RuntimeException e) {
            directory.close();
            throw e;
        }
    }

    /**
     * Refuses to start a shard without a journal if the directory contains journals. Otherwise, the shard would go back to a
     * checkpoint without a message, and a later start with a journal would apply old records to newer weights.
     */
    public static void refuseLeft(Path state) throws IOException {
        Path journals = JournalDirectory.journals(state);
        if (Files.exists(journals)) {
            throw new IOException(
                "--state " + state + " has journals in " + journals + "; start all shards with --durability"
                    + " journal, or move this directory away to continue from the newest checkpoint without their pushes");
        }
    }

    @Override
    public String name() {
        return "journal";
    }

    @Override
    public void begin(RecordBatch batch) throws IOException {
        try {
            MemorySegment records = batch.memory().segment(batch.offset(), batch.lengthBytes());
            if (batch.rosterAt() < 0) {
                append(records, batch.firstPosition(), batch.lastPosition());
                return;
            }
            roster.wrap(records, batch.rosterAt());
            long begin = roster.position();
            if (begin > batch.firstPosition()) {
                append(records.asSlice(0, batch.rosterAt()), batch.firstPosition(), begin - 1);
                sync();
            }
            complete();
            append(records.asSlice(batch.rosterAt()), begin, batch.lastPosition());
        } catch (IOException e) {
            abandon();
            throw e;
        }
    }

    private void append(MemorySegment records, long firstPosition, long lastPosition) throws IOException {
        long paddedBytes = BatchHeader.paddedBytes(records.byteSize());
        if (channel != null && writtenBytes + paddedBytes > segmentBytes) {
            complete();
        }
        if (channel == null) {
            number++;
            header = SegmentHeader.create(facts, firstPosition, first, first ? base : 0, history);
            try {
                channel = directory.create(number, header);
            } catch (IOException e) {
                // A segment whose name might not be on disk must not stay, because the next attempt creates another segment.
                discard();
                throw e;
            }
            first = false;
            writtenBytes = SegmentHeader.BYTES;
            syncedBytes = writtenBytes;
        }
        BatchHeader.put(batchHeader, header.mark(), firstPosition, lastPosition, (int) records.byteSize());
        parts[0] = batchHeader.clear();
        parts[1] = records.asByteBuffer();
        parts[2] = zeros.clear().limit((int) (paddedBytes - BatchHeader.BYTES - records.byteSize()));
        long left = paddedBytes;
        while (left > 0) {
            left -= channel.write(parts);
        }
        writtenBytes += paddedBytes;
        lastWritten = lastPosition;
    }

    @Override
    public void finish() throws IOException {
        try {
            sync();
        } catch (IOException e) {
            abandon();
            throw e;
        }
    }

    private void sync() throws IOException {
        channel.force(false);
        syncedBytes = writtenBytes;
        lastSynced = lastWritten;
        lastSyncNs = clock.nanoTime();
    }

    /** Ends the current segment, whose batches are all on disk. */
    private void complete() throws IOException {
        if (channel == null) {
            return;
        }
        channel.close();
        channel = null;
        completed();
    }

    private synchronized void completed() {
        complete.add(new Segment(directory.segment(number), number, lastSynced, syncedBytes));
        completeBytes += syncedBytes;
        writtenBytes = 0;
    }

    /** Ends the current segment behind the last batch that is on disk. */
    private void abandon() {
        if (channel == null) {
            return;
        }
        try (FileChannel failed = channel) {
            channel = null;
            if (syncedBytes > SegmentHeader.BYTES) {
                completed();
                failed.truncate(syncedBytes);
            } else {
                first = header.first();
                writtenBytes = 0;
                discard();
            }
        } catch (IOException e) {
            // The reader cuts off the incomplete batch.
            LOG.debug("the incomplete end of segment {} stays: {}", number, e.toString());
        }
    }

    /** Deletes the current segment, which has no batch. If this fails, {@link #cut} deletes the segment later. */
    private void discard() {
        Path file = directory.segment(number);
        if (Files.notExists(file)) {
            return;
        }
        try {
            directory.delete(file);
        } catch (IOException e) {
            // cut() must delete this segment, too. If it stayed while cut() deletes newer segments, the next start would miss
            // the records of these segments.
            LOG.debug("the empty segment {} stays until the journal is cut: {}", file, e.toString());
            synchronized (this) {
                complete.add(new Segment(file, number, header.firstPosition() - 1, SegmentHeader.BYTES));
                completeBytes += SegmentHeader.BYTES;
            }
        }
    }

    /**
     * Deletes the segments whose records are all before a position. Only one thread may call this method.
     *
     * @throws IOException if a segment cannot be deleted; a later call tries again
     */
    public void cut(long position) throws IOException {
        Segment oldest = oldest();
        while (oldest != null && oldest.lastPosition() < position) {
            // The oldest segment is deleted first, and its deletion reaches the disk first, so no hole can appear.
            directory.delete(oldest.file());
            LOG.debug("deleted {}", oldest.file());
            synchronized (this) {
                complete.removeFirst();
                completeBytes -= oldest.bytes();
            }
            oldest = oldest();
        }
    }

    private synchronized Segment oldest() {
        return complete.peekFirst();
    }

    /** The size of the journal in bytes. */
    public synchronized long bytes() {
        return completeBytes + writtenBytes;
    }

    /** The size of the journal at which the shard requests a checkpoint. A checkpoint makes the journal shorter. */
    public long limitBytes() {
        return limitBytes;
    }

    /** The number of segments. */
    public synchronized int segments() {
        return complete.size() + (writtenBytes > 0 ? 1 : 0);
    }

    /** The directory of the segments. */
    public Path path() {
        return directory.path();
    }

    /** The position of the last record that was in the journal when it was opened; 0 if there was none. */
    public long openedAt() {
        return openedAt;
    }

    /** A random number that identifies the updates of the shard. It stays the same as long as the shard loses no update. */
    public long history() {
        return history;
    }

    /** The time of the last successful fsync on the clock of the shard; 0 before the first. */
    public long lastSyncNs() {
        return lastSyncNs;
    }

    /** Marks the end of the journal, so the next start also detects damage of the last batch. Releases the directory. */
    @Override
    public void close() {
        try (directory) {
            markEnd();
        } catch (IOException e) {
            LOG.warn("the end of the journal {} cannot be marked: {}", directory.path(), e.toString());
        }
    }

    private void markEnd() throws IOException {
        if (channel == null) {
            return;
        }
        try (FileChannel last = channel) {
            if (syncedBytes < writtenBytes) {
                return;
            }
            BatchHeader.put(batchHeader, header.mark(), lastSynced + 1, lastSynced, 0);
            parts[0] = batchHeader.clear();
            parts[1] = zeros.clear().limit(BatchHeader.ALIGNMENT - BatchHeader.BYTES);
            while (parts[1].hasRemaining()) {
                last.write(parts, 0, 2);
            }
            last.force(false);
        }
    }
}
