package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Checks that a write is answered only after its records are durable, and that it counts once. */
@Timeout(60)
class RecordedWriteTest {
    private static final int PAGE = RecordedShard.PAGE;
    private static final Nexus LEARNER = FakeTask.nexus("a");

    @AutoClose
    private RecordedShard shard;

    @BeforeEach
    void open() throws Exception {
        shard = new RecordedShard("asp", 1, SumAggregator::new);
        shard.connect(LEARNER);
        shard.join(LEARNER, 0, false);
    }

    private static FakeTask push(long round) {
        return new FakeTask(LEARNER, 0, PAGE).fill(1).ofRound(round);
    }

    private static FakeTask synchronization() {
        return new FakeTask(LEARNER, 0);
    }

    private float weight() {
        return Weights.at(shard.shard.store(), 0);
    }

    /** Waits until the log has noticed that the sink fails, or works again. */
    private void awaitFailure(boolean failed) {
        await("the log has noticed the state of the sink", () -> {
            shard.clock.advance(Duration.ofSeconds(1));
            return shard.shard.records().status().failure() != null == failed;
        });
    }

    private void assertDurableAfterResume(FakeTask task) throws ScsiException {
        assertThat(task.resumes()).isZero();
        shard.sink.release();
        task.awaitResume();
        assertThat(shard.train.write(task)).isTrue();
    }

    @Test
    void pushIsAnsweredOnlyAfterItsRecordIsDurable() throws Exception {
        shard.sink.hold();
        FakeTask push = push(1);
        assertThat(shard.train.write(push)).isFalse();
        assertThat(shard.train.write(push)).isFalse();
        shard.sink.awaitHeld();
        assertDurableAfterResume(push);
        assertThat(weight()).isEqualTo(1);
        assertThat(shard.shard.traffic().pushes.sum()).isEqualTo(1);
    }

    @Test
    void pushRepeatedBeforeItsRecordIsDurableCountsOnce() throws Exception {
        shard.sink.hold();
        FakeTask expired = push(1);
        assertThat(shard.train.write(expired)).isFalse();
        shard.train.forget(expired);
        FakeTask again = push(1);
        assertThat(shard.train.write(again)).isFalse();
        assertDurableAfterResume(again);
        assertThat(expired.resumes()).isZero();
        assertThat(weight()).isEqualTo(1);
    }

    @Test
    void onlyAPushWithoutARoundNumberCountsTwiceWhenRepeated() throws Exception {
        shard.sink.hold();
        FakeTask withoutRound = new FakeTask(LEARNER, 0, PAGE).fill(1);
        FakeTask withRound = push(1);
        assertThat(shard.train.wouldCountTwice(withoutRound)).isFalse();
        assertThat(shard.train.write(withoutRound)).isFalse();
        assertThat(shard.train.write(withRound)).isFalse();
        assertThat(shard.train.wouldCountTwice(withoutRound)).isTrue();
        assertThat(shard.train.wouldCountTwice(withRound)).isFalse();
        FakeTask synchronization = synchronization();
        assertThat(shard.train.synchronizeCache(synchronization)).isFalse();
        assertThat(shard.train.wouldCountTwice(synchronization)).isFalse();
    }

    @Test
    void synchronizationWaitsForEarlierPushesButNotForLaterPushes() throws Exception {
        shard.sink.hold();
        FakeTask push = push(1);
        assertThat(shard.train.write(push)).isFalse();
        shard.sink.awaitHeld();
        FakeTask synchronization = synchronization();
        assertThat(shard.train.synchronizeCache(synchronization)).isFalse();
        assertThat(shard.train.write(push(2))).isFalse();
        long wanted = synchronization.logPosition();
        assertThat(shard.train.synchronizeCache(synchronization)).isFalse();
        assertThat(synchronization.logPosition()).isEqualTo(wanted).isEqualTo(push.logPosition());
        shard.sink.release();
        synchronization.awaitResume();
        assertThat(shard.train.synchronizeCache(synchronization)).isTrue();
    }

    @Test
    void synchronizationOfTheRawUnitWaitsForEarlierWrites() throws Exception {
        shard.sink.hold();
        FakeTask write = new FakeTask(LEARNER, 0, PAGE).fill(2);
        assertThat(shard.raw.write(write)).isFalse();
        FakeTask fill = new FakeTask(LEARNER, PAGE, PAGE);
        assertThat(shard.raw.fill(fill, PAGE, PAGE, null)).isTrue();
        assertThat(shard.raw.synchronizeCache(fill)).isFalse();
        shard.sink.release();
        write.awaitResume();
        fill.awaitResume();
        assertThat(shard.raw.write(write)).isTrue();
        assertThat(shard.raw.synchronizeCache(fill)).isTrue();
    }

    @Test
    void pullDoesNotWaitForRecords() throws Exception {
        shard.sink.hold();
        assertThat(shard.train.write(push(1))).isFalse();
        assertThat(shard.train.admitRead(new FakeTask(LEARNER, 0, PAGE).ofRound(1))).isTrue();
        assertThat(weight()).isEqualTo(1);
    }

    @Test
    void joinIsAnsweredOnlyAfterItsRecordIsDurable() throws Exception {
        shard.sink.hold();
        try (var pool = Executors.newSingleThreadExecutor()) {
            Future<JoinCommand.Answer> joining = pool.submit(() -> shard.join(FakeTask.nexus("b"), 0, false));
            shard.sink.awaitHeld();
            assertThat(joining.isDone()).isFalse();
            shard.sink.release();
            assertThat(joining.get().joinRound()).isEqualTo(1);
        }
    }

    @Test
    void pushRefusedWhileASinkFailsCountsOnceWhenRepeated() throws Exception {
        shard.sink.fail("no space left on device");
        FakeTask first = push(1);
        assertThat(shard.train.write(first)).isFalse();
        awaitFailure(true);
        assertThatThrownBy(() -> shard.train.write(push(1))).isInstanceOf(ScsiException.class)
            .hasMessageContaining("no space left on device")
            .extracting(e -> ((ScsiException) e).sense()).isEqualTo(RoundSense.NOT_KEPT.sense());
        assertThat(new String(shard.shard.status(), StandardCharsets.UTF_8))
            .contains("\"failure\":\"memory: no space left on device\"");
        shard.train.forget(first);
        shard.sink.fail(null);
        awaitFailure(false);
        FakeTask again = push(1);
        RecordedShard.write(shard.train, again);
        assertThat(weight()).isEqualTo(1);
        assertThat(shard.shard.records().status().failure()).isNull();
    }

    @Test
    void learnerThatReconnectsToTheReplayedShardKeepsItsMembership() throws Exception {
        JoinCommand.Answer before = shard.join(LEARNER, 5, false);
        RecordedShard.write(shard.train, push(5));
        try (RecordedShard again = new RecordedShard("asp", 1, SumAggregator::new)) {
            again.play(shard.sink.records());
            again.connect(LEARNER);
            assertThat(again.shard.learners().member(LEARNER).isLost()).isFalse();
            JoinCommand.Answer after = again.join(LEARNER, 0, false);
            assertThat(after.joinRound()).isEqualTo(before.joinRound());
            assertThat(after.membership()).isEqualTo(before.membership());
            RecordedShard.write(again.train, push(5));
            assertThat(Weights.at(again.shard.store(), 0)).isEqualTo(1);
            RecordedShard.write(again.train, push(6));
            assertThat(Weights.at(again.shard.store(), 0)).isEqualTo(2);
        }
    }

    @Test
    void learnerThatDoesNotReconnectToTheReplayedShardIsRemoved() throws Exception {
        try (RecordedShard again = new RecordedShard("asp", 1, SumAggregator::new)) {
            again.clock.advance(RecordedShard.LEASE.multipliedBy(10));
            again.play(shard.sink.records());
            again.shard.expire();
            assertThat(again.shard.learners().member(LEARNER)).isNotNull();
            again.clock.advance(RecordedShard.LEASE);
            again.shard.expire();
            assertThat(again.shard.learners().member(LEARNER)).isNull();
        }
    }
}
