package io.modeldisk.server.status;

import static io.modeldisk.protocol.dialect.StatusJson.put;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.checkpoint.CheckpointStatus;
import io.modeldisk.fault.journal.JournalSink;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.fault.record.RecordStatus;
import io.modeldisk.fault.replica.BackupStatus;
import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.Metric;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.consistency.RoundTimes;
import io.modeldisk.server.shard.ReplicatedShard;
import io.modeldisk.server.shard.Shard;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.concurrent.TimeUnit;

/** Creates the status of a shard as JSON: the progress of the blocks and learners. Locks one block at a time. */
public final class ShardStatus {
    /** The maximum size of the JSON in bytes. If not all learners fit, some are left out, and the JSON contains their number. */
    public static final int MAX_BYTES = 65_000;
    /** The maximum number of parts in which the status shows the versions of the blocks. */
    private static final int STRIP_PARTS = 64;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Shard shard;
    private final long memoryBytes;
    private final NanoClock clock;
    private final long startNs;

    /**
     * Creates the status of a shard, whose uptime begins now.
     *
     * @param memoryBytes the memory that the shard needs, with its Java heap
     */
    public ShardStatus(Shard shard, long memoryBytes, NanoClock clock) {
        this.shard = shard;
        this.memoryBytes = memoryBytes;
        this.clock = clock;
        this.startNs = clock.nanoTime();
    }

    /** Returns the current status as UTF-8 of at most {@link #MAX_BYTES} bytes. */
    public byte[] toJson() {
        Roster<Learner> roster = shard.learners().roster();
        List<Learner> members = roster.members();
        int shown = members.size();
        byte[] json = encode(roster, shown);
        while (json.length > MAX_BYTES) {
            shown /= 2;
            json = encode(roster, shown);
        }
        return json;
    }

    /** Returns the status of a standby process. {@code epoch} is the epoch of the process that serves the shard. */
    public static byte[] ofStandby(ModelFacts facts, long epoch) {
        ObjectNode status = JSON.createObjectNode();
        putPlace(status, facts);
        put(status, Metric.SERVING, false);
        put(status, Metric.ROLE, "standby");
        put(status, Metric.EPOCH, epoch);
        return encode(status);
    }

    private static void putPlace(ObjectNode status, ModelFacts facts) {
        status.put("model", facts.model());
        status.put("shard", facts.shard());
        status.put("shards", facts.shards());
        status.put("program", ProgramVersion.TEXT);
        status.put("protocol", facts.protocol());
        if (facts.state() != null) {
            status.put("state", facts.state());
        }
    }

    private static byte[] encode(ObjectNode status) {
        try {
            return JSON.writeValueAsBytes(status);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the status cannot be written as JSON: " + status, e);
        }
    }

    private byte[] encode(Roster<Learner> roster, int shown) {
        List<Learner> members = roster.members();
        ObjectNode status = JSON.createObjectNode();
        ModelFacts facts = shard.facts();
        putPlace(status, facts);
        put(status, Metric.SERVING, shard.refusal() == null);
        put(status, Metric.CONSISTENCY, facts.consistency());
        put(status, Metric.AGGREGATOR, facts.aggregator());
        if (shard.learningRate() != null) {
            putLearningRate(status, shard.learningRate(), shard.learners().lastOpenedRound() + 1);
        }
        put(status, Metric.DURABILITY, durability());
        putBlocks(status, members, shown);
        status.put("formed", roster.formed());
        if (!roster.formed()) {
            put(status, Metric.LEARNERS_MISSING, facts.learners() - members.size());
        }
        if (roster.tooFew()) {
            put(status, Metric.STOPPED, shard.learners().stopReason(roster));
        }
        if (shown < members.size()) {
            put(status, Metric.LEARNERS_LEFT_OUT, members.size() - shown);
        }
        if (shard.checkpointer() != null) {
            putCheckpoint(status, shard.checkpointer().status());
        }
        if (shard.journal() != null) {
            putJournal(status, shard.journal(), clock.nanoTime());
        }
        if (shard.replication() != null) {
            putReplication(status, shard.replication());
        }
        if (shard.records() != null) {
            putRecords(status, shard.records().status());
        }
        put(status, Metric.WAITING, shard.consistency().waiting());
        put(status, Metric.FOLLOWERS, shard.followers().size());
        put(status, Metric.PUSHES, shard.traffic().pushes.sum());
        put(status, Metric.PULLS, shard.traffic().pulls.sum());
        put(status, Metric.PUSHED_BYTES, shard.traffic().pushedBytes.sum());
        put(status, Metric.PULLED_BYTES, shard.traffic().pulledBytes.sum());
        put(status, Metric.NON_FINITE_PUSHES, shard.traffic().nonFinitePushes.sum());
        put(status, Metric.STATE_BYTES, shard.store().stateBytes());
        put(status, Metric.MEMORY_BYTES, memoryBytes);
        put(status, Metric.READERS_USED_BYTES, shard.keeper().usedBytes());
        put(status, Metric.READERS_LIMIT_BYTES, shard.keeper().limitBytes());
        if (shard.store().device() != null) {
            status.put("device", shard.store().device().toString());
            status.put("pushPlace", shard.pushPlace());
            put(status, Metric.DEVICE_PUSHES, shard.traffic().devicePushes.sum());
        }
        put(status, Metric.UPTIME, uptimeSeconds());
        return encode(status);
    }

    /** Puts the rate of a round, and the rate of a later round in which a change takes effect. */
    private static void putLearningRate(ObjectNode status, LearningRate rate, long round) {
        status.put("learningRate", rate.at(round));
        List<LearningRate.Change> changes = rate.changes();
        if (!changes.isEmpty() && changes.getLast().fromRound() > round) {
            long later = changes.getLast().fromRound();
            status.putObject("learningRateChange").put("rate", rate.at(later)).put("fromRound", later);
        }
    }

    private void putCheckpoint(ObjectNode status, CheckpointStatus newest) {
        put(status, Metric.CHECKPOINT_NUMBER, newest.number());
        ObjectNode checkpoint = status.withObjectProperty(Metric.CHECKPOINT_NUMBER.group());
        if (newest.number() > 0) {
            checkpoint.put("path", newest.path());
            checkpoint.put("round", newest.round());
            checkpoint.put("at", newest.at());
        }
        put(status, Metric.CHECKPOINT_AGE, newest.number() > 0
            ? Math.max(0, Duration.between(Instant.parse(newest.at()), Instant.now()).toSeconds())
            : uptimeSeconds());
        checkpoint.put("writing", newest.writing());
        checkpoint.put("answered", newest.answered());
        if (newest.failure() != null) {
            put(status, Metric.CHECKPOINT_FAILED, newest.failure());
        }
    }

    private long uptimeSeconds() {
        return TimeUnit.NANOSECONDS.toSeconds(clock.nanoTime() - startNs);
    }

    private String durability() {
        return shard.replication() != null
            ? "replica"
            : shard.journal() != null ? "journal" : shard.checkpointer() != null ? "checkpoint" : "memory";
    }

    private static void putJournal(ObjectNode status, JournalSink journal, long nowNs) {
        put(status, Metric.JOURNAL_BYTES, journal.bytes());
        put(status, Metric.JOURNAL_LIMIT_BYTES, journal.limitBytes());
        put(status, Metric.JOURNAL_SEGMENTS, journal.segments());
        status.withObjectProperty(Metric.JOURNAL_BYTES.group()).put("path", journal.path().toString());
        if (journal.lastSyncNs() != 0) {
            put(status, Metric.JOURNAL_SYNC_AGE_MS, TimeUnit.NANOSECONDS.toMillis(nowNs - journal.lastSyncNs()));
        }
    }

    private static void putReplication(ObjectNode status, ReplicatedShard replication) {
        put(status, Metric.ROLE, replication.isPrimary() ? "primary" : "backup");
        put(status, Metric.EPOCH, replication.follower().epoch());
        if (!replication.isPrimary()) {
            put(status, Metric.BLOCKS_MISSING, replication.follower().oldBlocks());
            return;
        }
        ArrayNode backups = status.withObjectProperty(Metric.ROLE.group()).putArray("backups");
        for (BackupStatus each : replication.backups().status()) {
            ObjectNode backup = backups.addObject();
            backup.put("address", each.address());
            put(backup, Metric.BACKUP_IN_SYNC, each.inSync());
            if (each.behind() != null) {
                put(backup, Metric.BACKUP_BEHIND_RECORDS, each.behind().records());
                put(backup, Metric.BACKUP_BEHIND_BYTES, each.behind().bytes());
                put(backup, Metric.BACKUP_BEHIND_MS, TimeUnit.NANOSECONDS.toMillis(each.behind().ageNs()));
                put(backup, Metric.BACKUP_BLOCKS_TO_SEND, each.blocksToSend());
            } else {
                put(backup, Metric.BACKUP_AWAY, each.reason());
            }
        }
    }

    private static void putRecords(ObjectNode status, RecordStatus progress) {
        put(status, Metric.RECORDS_APPENDED, progress.appended());
        put(status, Metric.RECORDS_DURABLE, progress.durable());
        if (progress.failure() != null) {
            put(status, Metric.RECORDS_FAILED, progress.failure());
        }
    }

    private void putBlocks(ObjectNode status, List<Learner> members, int shown) {
        LongSummaryStatistics version = new LongSummaryStatistics();
        LongSummaryStatistics rounds = new LongSummaryStatistics();
        List<LearnerClock> clocks = members.stream().map(LearnerClock::new).toList();
        int blocks = shard.store().layout().blocks();
        long[] strip = new long[Math.min(blocks, STRIP_PARTS)];
        Arrays.fill(strip, Long.MAX_VALUE);
        long updates = 0;
        for (int i = 0; i < blocks; i++) {
            Block block = shard.store().block(i);
            try (ScopedLock.Held _ = block.hold()) {
                version.accept(block.version());
                updates += block.updates();
                int part = (int) ((long) i * strip.length / blocks);
                strip[part] = Math.min(strip[part], block.version());
                long closed = shard.consistency().rounds(i);
                if (closed >= 0) {
                    rounds.accept(closed);
                }
                LearnerClock.look(clocks, i);
            }
        }
        put(status, Metric.VERSION_MIN, version.getMin());
        put(status, Metric.VERSION_MAX, version.getMax());
        put(status, Metric.VERSION_OF_ALL_BLOCKS, version.getSum());
        ArrayNode ahead = status.withObjectProperty("version").putArray("strip");
        for (long part : strip) {
            ahead.add(part - version.getMin());
        }
        put(status, Metric.UPDATES, updates);
        if (rounds.getCount() > 0) {
            put(status, Metric.ROUNDS_MIN, rounds.getMin());
            put(status, Metric.ROUNDS_MAX, rounds.getMax());
        }
        ArrayNode learners = status.putArray("learners");
        long nowNs = clock.nanoTime();
        clocks.subList(0, shown).forEach(learnerClock -> putLearner(learners.addObject(), learnerClock, nowNs));
    }

    private void putLearner(ObjectNode learner, LearnerClock progress, long nowNs) {
        Learner member = progress.learner();
        learner.put("learner", member.label());
        if (member.key().host() != null) {
            learner.put("host", member.key().host());
        }
        put(learner, Metric.LEARNER_STATE, member.isLost() ? "lost" : "live");
        put(learner, Metric.LEARNER_JOIN_ROUND, member.joinRound());
        boolean counted = progress.hasRounds() || shard.consistency().allowance() < Long.MAX_VALUE;
        if (counted) {
            put(learner, Metric.LEARNER_CLOCK_MIN, progress.rounds().getMin());
            put(learner, Metric.LEARNER_CLOCK_MAX, progress.rounds().getMax());
        }
        if (counted && progress.roundsBehind() > 0) {
            put(learner, Metric.LEARNER_BEHIND_ROUNDS, progress.roundsBehind());
            long sinceNs = shard.learners().roundTimes().since(progress.missingRound());
            if (sinceNs != RoundTimes.UNKNOWN) {
                put(learner, Metric.LEARNER_BEHIND_MS, TimeUnit.NANOSECONDS.toMillis(nowNs - sinceNs));
            }
            put(learner, Metric.LEARNER_WAITED_FOR, progress.roundsBehind() > shard.consistency().allowance());
        }
        put(learner, Metric.LEARNER_LATE_MS, TimeUnit.NANOSECONDS.toMillis(member.lateNs()));
        put(learner, Metric.LEARNER_PUSHES, member.pushes());
        put(learner, Metric.LEARNER_PUSHED_BYTES, member.pushedBytes());
        put(learner, Metric.LEARNER_PULLED_BYTES, member.pulledBytes());
        if (member.nonFinitePushes() > 0) {
            put(learner, Metric.LEARNER_NON_FINITE_PUSHES, member.nonFinitePushes());
        }
    }
}
