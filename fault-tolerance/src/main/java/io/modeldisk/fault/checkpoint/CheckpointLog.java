package io.modeldisk.fault.checkpoint;

import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.journal.JournalSink;
import io.modeldisk.fault.membership.Membership;
import io.modeldisk.fault.record.MemberRecords;
import io.modeldisk.fault.record.RateRecords;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.record.RecordStatus;
import io.modeldisk.platform.files.DurableFiles;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.engine.Nexus;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The records that a checkpoint adds to the journal of a shard, and what a checkpoint does to the journal. A record at the begin
 * of the checkpoint has all learners, and starts a new segment of the journal. A record of each block says where the records of
 * the block begin that the checkpoint does not contain. When the checkpoint is complete, the segments before its begin are
 * deleted.
 *
 * <p>Not thread-safe: only the thread that takes the checkpoints uses this class.
 */
public final class CheckpointLog {
    private static final Logger LOG = LogManager.getLogger(CheckpointLog.class);
    private static final Duration REQUEST_PERIOD = Duration.ofSeconds(1);

    private final RecordLog records;
    private final JournalSink journal;
    private final Membership<Nexus, ?> learners;
    private final NanoClock clock;
    /** Null if the aggregator has no learning rate. */
    private final LearningRate learningRate;
    /** The checkpoint that the shard has begun; 0 before the first. */
    private long id;
    private long begin;
    /** The position that must be on disk before the checkpoint is complete; 0 while it is not known. */
    private long awaited;
    private boolean full;
    private long nextRequestNs;

    /**
     * Creates the log of a shard that has replayed its journal.
     *
     * @param learningRate the learning rate of the aggregator; null if it has none
     */
    public CheckpointLog(
        RecordLog records, JournalSink journal, Membership<Nexus, ?> learners, LearningRate learningRate,
        NanoClock clock) {
        this.records = records;
        this.journal = journal;
        this.learners = learners;
        this.learningRate = learningRate;
        this.clock = clock;
        this.nextRequestNs = clock.nanoTime();
    }

    /** A checkpoint begins. No block of it has been saved. */
    void begin(long checkpoint) {
        begin = MemberRecords.appendRoster(learners, records);
        RateRecords.append(records, learningRate);
        awaited = 0;
        id = checkpoint;
    }

    /**
     * Returns whether the records of all saved blocks are on disk. Only then may the part of this shard be complete: without
     * these records, the journal does not continue the checkpoint. May be called when all blocks have been saved.
     */
    boolean isDurable() {
        RecordStatus status = records.status();
        if (awaited == 0) {
            awaited = status.appended();
        }
        return status.durable() >= awaited;
    }

    /**
     * Deletes the records that a checkpoint contains.
     *
     * @param state the directory of the checkpoint
     * @param checkpoint the id of a checkpoint that is complete
     */
    void completed(Path state, long checkpoint) {
        if (checkpoint != id) {
            return;
        }
        try {
            // Another shard may have published the checkpoint just now, so its name may not be on disk.
            DurableFiles.sync(state);
            journal.cut(begin);
        } catch (IOException e) {
            LOG.warn("the journal {} cannot be cut; the shard tries again after the next checkpoint: {}",
                journal.path(), e.toString());
        }
    }

    /** Returns whether the journal needs a checkpoint, because it is long. Returns true at most once a second. */
    boolean mustRequest() {
        if (journal.bytes() <= journal.limitBytes() || clock.nanoTime() - nextRequestNs < 0) {
            return false;
        }
        nextRequestNs = clock.nanoTime() + REQUEST_PERIOD.toNanos();
        return true;
    }

    /**
     * Refuses pushes while the journal is twice as long as its limit.
     *
     * @param failure why the last checkpoint has failed; null if it has not
     */
    void limit(String failure) {
        boolean now = journal.bytes() > 2 * journal.limitBytes();
        if (now == full) {
            return;
        }
        full = now;
        String reason = PlainText.format(
            "the journal %s is full: it has %s, twice --journal-limit, because no checkpoint was completed for long%s",
            journal.path(), ByteSize.format(journal.bytes()), failure == null ? "" : " (" + failure + ")");
        records.refuse(full ? reason : null);
        if (full) {
            LOG.error("the shard refuses pushes until a checkpoint is complete: {}", reason);
        } else {
            LOG.info("the journal {} is short again; the shard accepts pushes", journal.path());
        }
    }
}
