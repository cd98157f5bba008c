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
 * Adds the records of a checkpoint to the journal of a shard, and cuts the journal afterwards. The first record contains all
 * learners, and starts a new segment of the journal. When a block is saved, a BLOCK record follows: the checkpoint contains all
 * earlier records of the block, and no later record. When the checkpoint is complete, the segments before its first record are
 * deleted.
 *
 * <p>Not thread-safe: only the checkpoint thread uses this class.
 */
public final class CheckpointLog {
    private static final Logger LOG = LogManager.getLogger(CheckpointLog.class);
    private static final Duration REQUEST_PERIOD = Duration.ofSeconds(1);

    private final RecordLog records;
    private final JournalSink journal;
    private final Membership<Nexus, ?> learners;
    private final NanoClock clock;
    /** The learning rate of the aggregator; null if it has none. */
    private final LearningRate learningRate;
    /** The id of the checkpoint that the shard has begun; 0 before the first checkpoint. */
    private long id;
    private long begin;
    /** The position up to which records must be on disk before the checkpoint is complete; 0 while this position is not known. */
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

    /** Begins a checkpoint. Must be called before a block of the checkpoint is saved. */
    void begin(long checkpoint) {
        begin = MemberRecords.appendRoster(learners, records);
        RateRecords.append(records, learningRate);
        awaited = 0;
        id = checkpoint;
    }

    /**
     * Returns whether the records of all saved blocks are on disk. Until then, the shard must not complete its part of the
     * checkpoint, because the journal continues the checkpoint with these records. May be called when all blocks are saved.
     */
    boolean isDurable() {
        RecordStatus status = records.status();
        if (awaited == 0) {
            awaited = status.appended();
        }
        return status.durable() >= awaited;
    }

    /**
     * Deletes the segments of the journal whose records a checkpoint contains.
     *
     * @param state the directory of the checkpoint
     * @param checkpoint the id of a checkpoint that is complete
     */
    void completed(Path state, long checkpoint) {
        if (checkpoint != id) {
            return;
        }
        try {
            // Another shard might have published the checkpoint just now, so its name might not be on disk.
            DurableFiles.sync(state);
            journal.cut(begin);
        } catch (IOException e) {
            LOG.warn("the journal {} cannot be cut; the shard tries again after the next checkpoint: {}",
                journal.path(), e.toString());
        }
    }

    /** Returns whether the journal is so long that it must be cut by a checkpoint. Returns true at most once a second. */
    boolean mustRequest() {
        if (journal.bytes() <= journal.limitBytes() || clock.nanoTime() - nextRequestNs < 0) {
            return false;
        }
        nextRequestNs = clock.nanoTime() + REQUEST_PERIOD.toNanos();
        return true;
    }

    /**
     * Refuses pushes while the journal is more than twice as long as its limit.
     *
     * @param failure the reason why the last checkpoint has failed; null if it has not failed
     */
    void limit(String failure) {
        boolean now = journal.bytes() > 2 * journal.limitBytes();
        if (now == full) {
            return;
        }
        full = now;
        String reason = PlainText.format(
            "the journal %s is full: it has %s, twice --journal-limit, because no checkpoint was completed for a long time%s",
            journal.path(), ByteSize.format(journal.bytes()), failure == null ? "" : " (" + failure + ")");
        records.refuse(full ? reason : null);
        if (full) {
            LOG.error("the shard refuses pushes until a checkpoint is complete: {}", reason);
        } else {
            LOG.info("the journal {} is short again; the shard accepts pushes", journal.path());
        }
    }
}
