package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.replay.RecordPlayer;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.LearningRateCommand;
import io.modeldisk.protocol.dialect.PartitionCommand;
import io.modeldisk.protocol.engine.DiskUnit;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.MemorySink;
import io.modeldisk.server.unit.RawUnit;
import io.modeldisk.server.unit.TrainUnit;
import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** A shard with two blocks of two logical blocks and one block of one logical block, whose records are kept in memory. */
final class RecordedShard implements AutoCloseable {
    static final int PAGE = 4096;
    static final int BLOCK = 2 * PAGE;
    static final int SIZE = 2 * BLOCK + PAGE;
    /**
     * The lease is much shorter than the time limit of a JOIN. All threads share one clock, so a JOIN that waits must not time
     * out when a test advances the clock by a lease.
     */
    static final Duration LEASE = Duration.ofMillis(1);
    private static final int BUFFER = 64 * PAGE;

    final MemorySink sink = new MemorySink();
    final ManualClock clock = new ManualClock();
    final ShardModel shard;
    final LogicalUnit train;
    final DiskUnit raw;
    /** Applies the records of another shard, if this shard is a replica. */
    final RecordPlayer<Learner> player;

    RecordedShard(String consistency, int learners, Supplier<Aggregator> aggregator) throws Exception {
        this(consistency, learners, aggregator, 1);
    }

    RecordedShard(String consistency, int learners, Supplier<Aggregator> aggregator, long firstPosition)
        throws Exception {
        shard = ShardModel.open(new ServerContext().model("test").blockSizeBytes(BLOCK).sizeBytes(SIZE)
            .aggregator("test", aggregator.get()).consistency(consistency).learners(learners).lease(LEASE).clock(clock)
            .nonFinite(NonFinite.SKIP));
        train = shard.target().units().get(TrainUnit.LUN);
        raw = (DiskUnit) shard.target().units().get(RawUnit.LUN);
        player = new RecordPlayer<>(shard.store(), shard.consistency(), shard.learners(), shard.learningRate(), 0);
        if (firstPosition > 0) {
            shard.record(List.of(sink), firstPosition, BUFFER);
        }
    }

    void play(List<RecordHeader> records) throws DamagedRecordException {
        for (RecordHeader record : records) {
            player.apply(record);
        }
    }

    /** Waits until the sink has all records that the shard has appended, and returns them. */
    List<RecordHeader> records() {
        sink.await(shard.records().status().appended());
        return sink.records();
    }

    ShardState state() throws Exception {
        return ShardState.of(shard, sink);
    }

    JoinCommand.Answer join(Nexus learner, long earliestRound, boolean anew) throws ScsiException {
        return JoinCommand.answer(train.vendorCommand(learner, cdb(JoinCommand.cdb(earliestRound, anew))));
    }

    void ask(Nexus learner, long round) throws ScsiException {
        train.vendorCommand(learner, cdb(PartitionCommand.cdb(round)));
    }

    /** Changes the learning rate, if the aggregator has one. */
    void changeLearningRate(Nexus learner, long round, float rate) throws ScsiException {
        if (shard.learningRate() != null) {
            train.vendorCommand(learner, cdb(LearningRateCommand.cdb(round, rate)));
        }
    }

    private static Cdb cdb(byte[] bytes) {
        Cdb cdb = new Cdb();
        System.arraycopy(bytes, 0, cdb.bytes(), 0, bytes.length);
        return cdb;
    }

    void connect(Nexus learner) {
        shard.target().nexusEstablished(learner);
    }

    void leave(Nexus learner) {
        shard.target().nexusLost(learner, true);
    }

    void expire(Nexus learner) {
        shard.target().nexusLost(learner, false);
        clock.advance(LEASE);
        shard.expire();
    }

    /** Calls a unit until it accepts the write. Before each further call, waits until the task is resumed. */
    static void write(LogicalUnit unit, FakeTask task) throws ScsiException {
        while (!unit.write(task)) {
            task.awaitResume();
        }
    }

    @Override
    public void close() {
        sink.release();
        shard.close();
    }
}
