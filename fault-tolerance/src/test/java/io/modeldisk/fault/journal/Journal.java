package io.modeldisk.fault.journal;

import io.modeldisk.fault.record.RecordBatch;
import io.modeldisk.fault.record.RecordConsumer;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;

/** A journal under test. Each record is a PUSH whose version is its position, or a ROSTER. */
final class Journal implements AutoCloseable {
    static final byte PUSH = 1;
    static final byte BLOCK = 5;
    static final byte ROSTER = 7;
    private static final int BODY_BYTES = 4096;

    private static final int MEMORY_BYTES = 1 << 20;

    private final DataMemory memory = DataMemory.allocate(MEMORY_BYTES);
    private final List<Long> replayed = new ArrayList<>();
    private final JournalDirectory directory;
    private final JournalSink sink;
    private long next;
    private int bodyBytes = BODY_BYTES;
    private long begin = -1;
    private byte kind = PUSH;

    private final class Replay implements RecordConsumer {
        @Override
        public void apply(RecordHeader recorded) {
            replayed.add(recorded.version());
        }

        @Override
        public void end() {
            // There is nothing to check: this consumer accepts every record.
        }
    }

    Journal(Path state) throws IOException {
        this(state, facts("m", "sum"), 0, JournalSink.SEGMENT_BYTES);
    }

    Journal(Path state, ModelFacts facts, long checkpoint, long segmentBytes) throws IOException {
        directory = JournalDirectory.open(new JournalSettings(state, 0, Duration.ZERO), facts, NanoClock.SYSTEM);
        try {
            SegmentHeader.Facts own = SegmentHeader.Facts.of(facts);
            JournalContents contents = new OldJournals(facts, checkpoint).deleteIfOld(directory);
            if (contents == null) {
                contents = JournalReader.read(directory, own, checkpoint, from -> {
                    begin = from;
                    return new Replay();
                });
            }
            sink = new JournalSink(directory, own, contents, checkpoint, 1 << 30, segmentBytes, NanoClock.SYSTEM);
        } catch (IOException e) {
            directory.close();
            memory.close();
            throw e;
        }
        this.next = sink.openedAt() + 1;
    }

    /** Opens the journal after the shard has loaded a checkpoint. */
    static Journal after(long checkpoint, Path state) throws IOException {
        return new Journal(state, facts("m", "sum"), checkpoint, 1 << 20);
    }

    static List<Long> versions(long first, long last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }

    static ModelFacts facts(String model, String aggregator) {
        return new ModelFacts(model, 1 << 20, 4096, 0, 1, aggregator, "asp", 1, "zeros");
    }

    /** Sets the body length of each PUSH. */
    Journal bodyBytes(int bytes) {
        bodyBytes = bytes;
        return this;
    }

    /**
     * The id of the checkpoint that contains the first records; 0 if no checkpoint contains records, -1 if there are no records.
     */
    long begin() {
        return begin;
    }

    JournalSink sink() {
        return sink;
    }

    /** The versions of the records that the journal contained. */
    List<Long> replayed() {
        return replayed;
    }

    /** The position of the next record. */
    long next() {
        return next;
    }

    /** Makes a batch of pushes durable. */
    Journal push(int count) throws IOException {
        return write(batch(count, -1, 0));
    }

    /** Makes a batch durable that contains the ROSTER record with which a checkpoint begins. */
    Journal roster(int pushesBefore, int pushesAfter, long checkpoint) throws IOException {
        return write(batch(pushesBefore + 1 + pushesAfter, pushesBefore, checkpoint));
    }

    /** Makes a BLOCK record durable, which shows that a checkpoint has saved the block. */
    Journal block(long checkpoint) throws IOException {
        kind = BLOCK;
        write(batch(1, -1, checkpoint));
        kind = PUSH;
        return this;
    }

    private Journal write(RecordBatch batch) throws IOException {
        sink.begin(batch);
        sink.finish();
        next = batch.lastPosition() + 1;
        return this;
    }

    /** Creates a batch of records in memory. {@code rosterIndex} is the index of the ROSTER; -1 if there is none. */
    RecordBatch batch(int count, int rosterIndex, long checkpoint) {
        ByteBuffer bytes = memory.segment(0, MEMORY_BYTES).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        int rosterAt = -1;
        int at = 0;
        for (int i = 0; i < count; i++) {
            boolean roster = i == rosterIndex;
            int body = roster ? 16 : bodyBytes;
            rosterAt = roster ? at : rosterAt;
            bytes.putInt(at, body).putInt(at + 4, 0).putInt(at + 8, roster ? ROSTER : kind).putInt(at + 12, 0)
                .putInt(at + 16, 0).putInt(at + 20, body).putLong(at + 24, checkpoint).putLong(at + 32, 1)
                .putLong(at + 40, next + i).putLong(at + 48, next + i).putLong(at + 56, 0);
            for (int k = 0; k < body; k++) {
                bytes.put(at + RecordHeader.BYTES + k, (byte) (next + i + k));
            }
            CRC32C checksum = new CRC32C();
            checksum.update(bytes.slice(at, RecordHeader.BYTES + body));
            bytes.putInt(at + 4, (int) checksum.getValue());
            at += RecordHeader.BYTES + body;
        }
        return new RecordBatch(memory, 0).set(at, next, next + count - 1, rosterAt);
    }

    /** Ends the use of the journal, as the death of a process does. */
    void die() throws IOException {
        directory.close();
    }

    @Override
    public void close() {
        sink.close();
        memory.close();
    }
}
