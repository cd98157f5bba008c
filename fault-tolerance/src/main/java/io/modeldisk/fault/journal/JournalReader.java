package io.modeldisk.fault.journal;

import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.RecordConsumer;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordReader;
import io.modeldisk.platform.files.PrivateFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Reads the records of a journal when a shard starts, and repairs its end.
 *
 * <p>An incomplete batch was not acknowledged if no later batch follows in its segment, because a batch is written only after the
 * previous batch is on disk. Such a batch is cut off. If anything else is missing or damaged, the journal is refused. After a
 * failed write, the sink writes the batch again to the next segment, so a position can occur twice; only the first is read.
 *
 * <p>Not thread-safe.
 */
public final class JournalReader {
    private static final Logger LOG = LogManager.getLogger(JournalReader.class);
    private static final int SCAN_BYTES = 1 << 20;
    private static final int MIN_BUFFER_BYTES = 1 << 20;

    private final JournalDirectory directory;
    private final SegmentHeader.Facts facts;
    private final List<Segment> segments = new ArrayList<>();
    private long lastPosition;
    private long records;
    private long bytes;
    private long history;
    private Arena arena;
    private MemorySegment buffer = MemorySegment.NULL;

    private JournalReader(JournalDirectory directory, SegmentHeader.Facts facts) {
        this.directory = directory;
        this.facts = facts;
    }

    /**
     * Reads the journal of a shard. After this method, everything that was read is on disk.
     *
     * @param checkpoint the id of the checkpoint that the shard has loaded; 0 for the initial weights
     * @param consumers creates the receiver of the records. The argument is the id of the loaded checkpoint, whose BLOCK records
     *     show which records are in this checkpoint; 0 if no record of the journal is in the checkpoint
     * @return the segments and the position of the last record
     * @throws DamagedJournalException if records of acknowledged pushes are missing or damaged, or if the journal is of another
     *     model or has a newer format
     */
    static JournalContents read(
        JournalDirectory directory, SegmentHeader.Facts facts, long checkpoint, LongFunction<RecordConsumer> consumers)
        throws IOException {
        JournalReader reader = new JournalReader(directory, facts);
        try (Arena arena = Arena.ofConfined()) {
            reader.arena = arena;
            reader.readAll(checkpoint, consumers);
        }
        return new JournalContents(List.copyOf(reader.segments), reader.lastPosition, reader.records, reader.bytes,
            reader.history);
    }

    private void readAll(long checkpoint, LongFunction<RecordConsumer> consumers) throws IOException {
        RecordConsumer consumer = null;
        for (Path file : directory.segments()) {
            try (FileChannel channel = PrivateFiles.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                SegmentHeader header = header(file, channel);
                if (segments.isEmpty()) {
                    consumer = consumers.apply(start(file, header, checkpoint));
                } else if (header.firstPosition() > lastPosition + 1) {
                    throw DamagedJournalException.of(file, "begins with record " + header.firstPosition()
                        + ", but the segment before it ends with record " + lastPosition, null);
                }
                history = header.history();
                long end = read(file, channel, header, consumer);
                if (end < channel.size()) {
                    LOG.warn(
                        "{} ends with an incomplete batch of records at byte {}, which is cut off; no push in this batch was"
                            + " acknowledged",
                        file, end);
                    channel.truncate(end);
                }
                // The previous process might have ended before it synchronized the end of the file.
                channel.force(true);
                segments.add(new Segment(file, JournalDirectory.number(file), lastPosition, end));
                bytes += end;
            }
        }
        if (consumer != null) {
            directory.sync();
            end(consumer);
        }
    }

    private void end(RecordConsumer consumer) throws IOException {
        try {
            consumer.end();
        } catch (DamagedRecordException e) {
            throw DamagedJournalException.of(segments.getLast().file(), "lacks records: " + e.getMessage(), e);
        }
    }

    /** Returns the facts in the oldest segment of a directory; null if there is no segment. */
    static SegmentHeader.Facts facts(JournalDirectory directory) throws IOException {
        List<Path> files = directory.segments();
        if (files.isEmpty()) {
            return null;
        }
        try (FileChannel channel = PrivateFiles.open(files.getFirst(), StandardOpenOption.READ)) {
            return readHeader(files.getFirst(), channel).facts();
        }
    }

    private SegmentHeader header(Path file, FileChannel channel) throws IOException {
        SegmentHeader header = readHeader(file, channel);
        if (!header.facts().equals(facts)) {
            throw DamagedJournalException.of(file,
                "is of " + header.facts() + ", but the segments before it are of " + facts, null);
        }
        return header;
    }

    private static SegmentHeader readHeader(Path file, FileChannel channel) throws IOException {
        ByteBuffer head = ByteBuffer.allocate(SegmentHeader.BYTES);
        readFully(channel, head, 0);
        try {
            return SegmentHeader.fromBytes(head.flip());
        } catch (IOException e) {
            throw DamagedJournalException.of(file, "cannot be read: " + e.getMessage(), e);
        }
    }

    /** Checks that the first segment continues the checkpoint. Returns the argument for {@code consumers}. */
    private long start(Path file, SegmentHeader header, long checkpoint) throws IOException {
        if (checkpoint == 0 && !(header.first() && header.base() == 0)) {
            throw DamagedJournalException.of(file, "needs a checkpoint, but there is none", null);
        }
        lastPosition = header.firstPosition() - 1;
        return header.first() && header.base() == checkpoint ? 0 : checkpoint;
    }

    /** Reads the batches of a segment. Returns the end of the last complete batch. */
    private long read(Path file, FileChannel channel, SegmentHeader header, RecordConsumer consumer)
        throws IOException {
        ByteBuffer head = ByteBuffer.allocate(BatchHeader.BYTES);
        long size = channel.size();
        long at = SegmentHeader.BYTES;
        long next = header.firstPosition();
        while (at < size) {
            readFully(channel, head.clear(), at);
            BatchHeader batch = BatchHeader.get(head.flip(), 0, header.mark());
            String damage = batch == null ? "the header of a batch is damaged" : damage(channel, batch, next, at);
            if (damage != null) {
                checkNothingFollows(file, channel, header, at, damage);
                return at;
            }
            if (batch.lengthBytes() > 0) {
                apply(file, at, batch, consumer);
                next = batch.lastPosition() + 1;
            }
            at += BatchHeader.paddedBytes(batch.lengthBytes());
        }
        return Math.min(at, size);
    }

    /** Reads a batch into the buffer and checks it. Returns a description of the damage; null if there is none. */
    private String damage(FileChannel channel, BatchHeader batch, long next, long at) throws IOException {
        if (batch.firstPosition() != next) {
            return "the batch begins with record " + batch.firstPosition() + " instead of " + next;
        }
        if (batch.lengthBytes() > channel.size() - at - BatchHeader.BYTES) {
            return "the batch is incomplete";
        }
        if (buffer.byteSize() < batch.lengthBytes()) {
            buffer = arena.allocate(Math.max(MIN_BUFFER_BYTES, batch.lengthBytes()), Long.BYTES);
        }
        MemorySegment content = buffer.asSlice(0, batch.lengthBytes());
        readFully(channel, content.asByteBuffer(), at + BatchHeader.BYTES);
        if (batch.lengthBytes() == 0) {
            return null;
        }
        RecordReader reader = new RecordReader(content, next);
        try {
            while (reader.next() != null) {
                // next() checks the record.
            }
        } catch (DamagedRecordException e) {
            return "record " + reader.nextPosition() + " is damaged at byte " + (at + BatchHeader.BYTES
                + reader.nextOffset()) + " (in its batch, " + e.getMessage() + ")";
        }
        return reader.nextPosition() == batch.lastPosition() + 1
            ? null
            : "the batch ends with record " + (reader.nextPosition() - 1) + " instead of " + batch.lastPosition();
    }

    private void apply(Path file, long at, BatchHeader batch, RecordConsumer consumer) throws IOException {
        RecordReader reader = new RecordReader(buffer.asSlice(0, batch.lengthBytes()), batch.firstPosition());
        try {
            RecordHeader found = reader.next();
            while (found != null) {
                if (found.position() > lastPosition) {
                    consumer.apply(found);
                    lastPosition = found.position();
                    records++;
                }
                found = reader.next();
            }
        } catch (DamagedRecordException e) {
            throw DamagedJournalException.of(file, "does not continue the checkpoint at byte "
                + (at + BatchHeader.BYTES + reader.offset()) + ": " + e.getMessage(), e);
        }
    }

    /** Checks that no batch follows damaged bytes: such a batch would prove that the damaged batch was on disk. */
    private static void checkNothingFollows(
        Path file, FileChannel channel, SegmentHeader header, long damagedAt, String damage) throws IOException {
        ByteBuffer window = ByteBuffer.allocate(SCAN_BYTES);
        for (long start = damagedAt; start < channel.size(); start += SCAN_BYTES) {
            readFully(channel, window.clear(), start);
            window.flip();
            for (int i = start == damagedAt ? BatchHeader.ALIGNMENT : 0; i < window
                .limit(); i += BatchHeader.ALIGNMENT) {
                if (BatchHeader.get(window, i, header.mark()) != null) {
                    throw DamagedJournalException.of(file, "is damaged at byte " + damagedAt + ": " + damage
                        + ", and a later batch follows at byte " + (start + i), null);
                }
            }
        }
    }

    /** Reads until the buffer is full or the file ends. */
    private static void readFully(FileChannel channel, ByteBuffer target, long start) throws IOException {
        long position = start;
        while (target.hasRemaining()) {
            int read = channel.read(target, position);
            if (read < 0) {
                return;
            }
            position += read;
        }
    }
}
