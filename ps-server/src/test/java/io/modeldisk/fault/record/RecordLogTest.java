package io.modeldisk.fault.record;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.MemorySink;
import io.modeldisk.server.fake.Roles;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RecordLogTest {
    private static final int PAGE = 4096;
    private static final int BUFFER = 16 * PAGE;

    private final MemorySink sink = new MemorySink();
    private final MemorySegment data = Arena.ofAuto().allocate(4 * PAGE);
    private RecordLog log = log(List.of(sink), BUFFER, 1, NanoClock.SYSTEM, e -> {});

    @AfterEach
    void close() {
        sink.release();
        log.close();
    }

    private static FakeTask task(String nexus, int lengthBytes) {
        return new FakeTask(FakeTask.nexus(nexus), 0, lengthBytes);
    }

    private static RecordLog log(List<RecordSink> sinks, int bufferBytes, long firstPosition, NanoClock clock,
        Consumer<Throwable> lost) {
        return new RecordLog(sinks, bufferBytes, DataMemory.allocate(2L * bufferBytes), firstPosition, 0, null, clock,
            lost, "test");
    }

    private void append(int block, int lengthBytes) {
        log.push(block, 0, data, 0, lengthBytes, 7, 1, 1);
    }

    /** Appends records of a checkpoint until the log refuses one. */
    private void appendUntilRefused() {
        long last = 0;
        while (last >= 0) {
            last = log.append(RecordKind.BLOCK, (byte) 0, 0, 0, 0, 1, 1, PAGE, (memory, offset) -> {});
        }
        assertThat(last).isEqualTo(-1);
    }

    @Test
    void recordsOfManyThreadsReachTheSinkInOrderWithoutAGap() throws Exception {
        int threads = 4;
        int each = 300;
        List<Callable<Void>> roles = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int block = i;
            MemorySegment own = Arena.ofAuto().allocate(4 * PAGE);
            roles.add(() -> {
                for (int n = 0; n < each; n++) {
                    int length = PAGE * (n % 4 + 1);
                    for (int at = 0; at < length; at += Integer.BYTES) {
                        own.set(ValueLayout.JAVA_INT, at, block * 1000 + n);
                    }
                    log.push(block, 0, own, 0, length, 7, n, n);
                }
                return null;
            });
        }
        Roles.runAll(roles);
        sink.await(threads * each);
        List<RecordHeader> records = sink.records();
        assertThat(records).extracting(RecordHeader::position)
            .containsExactlyElementsOf(LongStream.rangeClosed(1, threads * each).boxed().toList());
        for (int i = 0; i < threads; i++) {
            int block = i;
            assertThat(records).filteredOn(record -> record.block() == block).extracting(RecordHeader::round)
                .containsExactlyElementsOf(LongStream.range(0, each).boxed().toList());
        }
        for (RecordHeader record : records) {
            int expected = record.block() * 1000 + (int) record.round();
            for (int at = 0; at < record.bodyBytes(); at += Integer.BYTES) {
                assertThat(record.memory().get(ValueLayout.JAVA_INT, record.bodyStart() + at)).isEqualTo(expected);
            }
        }
    }

    @Test
    void taskWaitsUntilItsRecordsAreDurableInEverySink() {
        MemorySink second = new MemorySink();
        log.close();
        log = log(List.of(new MemorySink(), second), BUFFER, 1, NanoClock.SYSTEM, e -> {});
        second.hold();
        append(0, PAGE);
        FakeTask task = task("a", PAGE);
        assertThat(log.isDurable(task)).isFalse();
        second.awaitHeld();
        assertThat(log.isDurable(task)).isFalse();
        assertThat(task.resumes()).isZero();
        second.release();
        task.awaitResume();
        assertThat(log.isDurable(task)).isTrue();
        assertThat(log.status()).isEqualTo(new RecordStatus(1, 1, null));
    }

    @Test
    void backlogShowsHowManyHowLargeAndHowOldTheLaterRecordsAre() {
        ManualClock clock = new ManualClock();
        log.close();
        MemorySink slow = new MemorySink();
        log = log(List.of(slow), BUFFER, 1, clock, e -> {});
        assertThat(log.after(0)).isEqualTo(new RecordBacklog(0, 0, 0));
        slow.hold();
        append(0, PAGE);
        slow.awaitHeld();
        clock.advance(Duration.ofMillis(30));
        append(0, PAGE);
        append(0, PAGE);
        clock.advance(Duration.ofMillis(12));
        long bytes = PAGE + RecordHeader.BYTES;
        assertThat(log.after(0)).isEqualTo(new RecordBacklog(3, 3 * bytes, Duration.ofMillis(42).toNanos()));
        assertThat(log.after(1)).isEqualTo(new RecordBacklog(2, 2 * bytes, Duration.ofMillis(12).toNanos()));
        slow.release();
        slow.await(3);
    }

    @Test
    void taskThatIsTriedTwiceIsResumedOnce() {
        sink.hold();
        append(0, PAGE);
        FakeTask task = task("a", PAGE);
        assertThat(log.isDurable(task)).isFalse();
        assertThat(log.isDurable(task)).isFalse();
        sink.release();
        task.awaitResume();
        sink.await(1);
        assertThat(task.resumes()).isZero();
    }

    @Test
    void forgottenTaskIsNotResumed() {
        sink.hold();
        append(0, PAGE);
        List<FakeTask> tasks = IntStream.range(0, 200).mapToObj(i -> task("a", PAGE)).toList();
        tasks.forEach(log::isDurable);
        for (int i = 0; i < tasks.size(); i += 2) {
            log.forget(tasks.get(i));
        }
        sink.release();
        for (int i = 1; i < tasks.size(); i += 2) {
            tasks.get(i).awaitResume();
        }
        assertThat(IntStream.range(0, 100).map(i -> tasks.get(2 * i).resumes()).sum()).isZero();
    }

    @Test
    void logLosesNoRecordAndRefusesNewWritesWhileASinkFails() throws Exception {
        sink.fail("no space left on device");
        append(0, PAGE);
        FakeTask waiting = task("a", PAGE);
        assertThat(log.isDurable(waiting)).isFalse();
        sink.awaitOffers(3);
        assertThatThrownBy(() -> log.reserve(task("a", PAGE))).isInstanceOf(ScsiException.class)
            .hasMessageContaining("memory: no space left on device")
            .extracting(e -> ((ScsiException) e).sense()).isEqualTo(RoundSense.NOT_KEPT.sense());
        assertThat(log.status().failure()).contains("no space left on device");
        assertThat(waiting.resumes()).isZero();
        append(1, PAGE);
        sink.fail(null);
        waiting.awaitResume();
        assertThat(log.isDurable(waiting)).isTrue();
        sink.await(2);
        assertThat(log.status().failure()).isNull();
        FakeTask next = task("a", PAGE);
        assertThat(log.reserve(next)).isTrue();
        log.release(next);
        assertThat(sink.records()).extracting(RecordHeader::block).containsExactly(0, 1);
    }

    @Test
    void recordOfACheckpointIsRefusedAtOnceWhileASinkFails() throws Exception {
        sink.fail("broken");
        append(0, PAGE);
        sink.awaitOffers(1);
        // An append may wait for room at first, because the log may not have noticed the failure of the sink yet.
        assertThat(Roles.start(this::appendUntilRefused)).succeedsWithin(Duration.ofSeconds(30));
        sink.fail(null);
    }

    @Test
    void recordsOfACheckpointDoNotUseTheReservedRoomOfAWriteWhileASinkFails() throws Exception {
        sink.hold();
        append(0, PAGE);
        sink.awaitHeld();
        FakeTask write = task("a", 4 * PAGE);
        assertThat(log.reserve(write)).isTrue();
        try (var pool = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().name("test-records").factory())) {
            AtomicReference<Thread> checkpoint = new AtomicReference<>();
            Future<?> refused = pool.submit(() -> {
                checkpoint.set(Thread.currentThread());
                appendUntilRefused();
            });
            await("the checkpoint waits for room",
                () -> checkpoint.get() != null && checkpoint.get().getState() == Thread.State.WAITING);
            sink.fail("broken");
            sink.release();
            refused.get();
            Future<?> written = pool.submit(() -> append(1, 4 * PAGE));
            try {
                written.get(10, TimeUnit.SECONDS);
            } finally {
                sink.fail(null);
            }
        }
        log.release(write);
    }

    @Test
    void recordOfACheckpointDoesNotWaitIfTheBufferIsEmpty() throws Exception {
        FakeTask write = task("a", 4 * PAGE);
        assertThat(log.reserve(write)).isTrue();
        long position = log.append(RecordKind.BLOCK, (byte) 0, 0, 0, 0, 1, 1, 12 * PAGE, (memory, offset) -> {});
        log.release(write);
        sink.await(position);
    }

    @Test
    void appendingAllocatesNoMemory() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int writes = 500;
        log.close();
        log = log(List.of(new MemorySink()), 16 << 20, 1, NanoClock.SYSTEM, e -> {});
        FakeTask task = task("a", PAGE);
        long allocated = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 3; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < writes; i++) {
                log.reserve(task);
                log.push(0, 0, data, 0, PAGE, 7, 1, 1);
                log.release(task);
            }
            allocated = Math.min(allocated, threads.getCurrentThreadAllocatedBytes() - before);
        }
        // A few bytes are allowed for each write, because a contended lock allocates an entry of its queue.
        assertThat(allocated).isLessThan(writes * 8L);
    }

    @Test
    void workingSinkGetsEachBatchOnceWhileAnotherSinkFails() {
        MemorySink works = new MemorySink();
        MemorySink fails = new MemorySink();
        fails.fail("broken");
        log.close();
        log = log(List.of(works, fails), BUFFER, 1, NanoClock.SYSTEM, e -> {});
        append(0, PAGE);
        fails.awaitOffers(3);
        assertThat(works.offers()).isEqualTo(1);
        assertThat(log.status().durable()).isZero();
        fails.fail(null);
        fails.await(1);
    }

    @Test
    void synchronizationWaitsForAWriteOfItsNexusThatWaitsForRoom() throws Exception {
        sink.hold();
        append(0, PAGE);
        sink.awaitHeld();
        FakeTask first = task("a", 4 * PAGE);
        assertThat(log.reserve(first)).isTrue();
        FakeTask second = task("b", 4 * PAGE);
        assertThat(log.reserve(second)).isFalse();
        FakeTask synchronization = task("b", 0);
        assertThat(log.admitSynchronization(task("c", 0))).isTrue();
        assertThat(log.admitSynchronization(synchronization)).isFalse();
        for (int i = 0; i < 8; i++) {
            append(i, PAGE);
        }
        log.release(first);
        assertThat(log.reserve(second)).isFalse();
        sink.release();
        second.awaitResume();
        while (!log.reserve(second)) {
            second.awaitResume();
        }
        assertThat(log.admitSynchronization(synchronization)).isFalse();
        assertThat(synchronization.resumes()).isZero();
        log.release(second);
        synchronization.awaitResume();
        assertThat(log.admitSynchronization(synchronization)).isTrue();
    }

    @Test
    void writeThatWaitsForRoomIsRefusedWhenTheSinkFails() throws Exception {
        sink.hold();
        sink.fail("broken");
        append(0, PAGE);
        sink.awaitHeld();
        assertThat(log.reserve(task("a", 4 * PAGE))).isTrue();
        FakeTask second = task("b", 4 * PAGE);
        assertThat(log.reserve(second)).isFalse();
        sink.release();
        second.awaitResume();
        assertThatThrownBy(() -> log.reserve(second)).isInstanceOf(ScsiException.class);
        assertThat(log.admitSynchronization(task("b", 0))).isTrue();
        sink.fail(null);
    }

    @Test
    void releaseOfUnusedRoomResumesAWaitingWrite() throws Exception {
        FakeTask first = task("a", 4 * PAGE);
        FakeTask second = task("b", 4 * PAGE);
        assertThat(log.reserve(first)).isTrue();
        assertThat(log.reserve(second)).isFalse();
        log.release(first);
        second.awaitResume();
        assertThat(log.reserve(second)).isTrue();
        log.release(second);
    }

    @Test
    void writeLargerThanTheBuffersIsAdmittedAlone() throws Exception {
        FakeTask large = task("a", 3 * BUFFER);
        assertThat(log.reserve(large)).isTrue();
        for (int i = 0; i < 48; i++) {
            append(i, PAGE);
        }
        log.release(large);
        sink.await(48);
    }

    @Test
    void closeGivesTheLastRecordsToTheSink() {
        for (int i = 0; i < 5; i++) {
            append(i, PAGE);
        }
        log.close();
        assertThat(sink.records()).hasSize(5);
        assertThat(sink.isClosed()).isTrue();
    }

    @Test
    void closeReturnsAlthoughTheSinkFails() {
        sink.fail("broken");
        append(0, PAGE);
        sink.awaitOffers(1);
        log.close();
        assertThat(sink.isClosed()).isTrue();
    }

    private static <T> Future<T> advanceUntilDone(ManualClock clock, Future<T> future) {
        while (!future.isDone()) {
            clock.advance(Duration.ofSeconds(1));
        }
        return future;
    }

    @Test
    void closeReturnsAlthoughTheSinkHangs() throws Exception {
        ManualClock clock = new ManualClock();
        MemorySink stuck = new MemorySink();
        RecordLog stuckLog = log(List.of(stuck), BUFFER, 1, clock, e -> {});
        stuck.hold();
        stuckLog.push(0, 0, data, 0, PAGE, 7, 1, 1);
        stuck.awaitHeld();
        advanceUntilDone(clock, Roles.start(stuckLog::close)).get();
        assertThat(stuck.isClosed()).isTrue();
    }

    @Test
    void joinIsRefusedIfItsRecordDoesNotBecomeDurableInTime() throws Exception {
        ManualClock clock = new ManualClock();
        MemorySink stuck = new MemorySink();
        stuck.hold();
        try (RecordLog stuckLog = log(List.of(stuck), BUFFER, 1, clock, e -> {})) {
            stuckLog.append(RecordKind.LEARNER, (byte) 1, -1, 0, 7, 1, 0, 0, (memory, offset) -> {});
            Future<Void> waiting = advanceUntilDone(clock, Roles.start(stuckLog::awaitLearnersDurable));
            assertThatThrownBy(waiting::get).hasRootCauseInstanceOf(ScsiException.class)
                .hasMessageContaining("did not become durable within 5 s");
            stuck.release();
        }
    }

    @Test
    void logContinuesAtTheGivenPosition() {
        MemorySink second = new MemorySink();
        try (RecordLog later = log(List.of(second), BUFFER, 100, NanoClock.SYSTEM, e -> {})) {
            assertThat(later.isDurable(task("a", PAGE))).isTrue();
            later.closeRound(3, 2, 1);
            second.await(100);
        }
        assertThat(second.records()).extracting(RecordHeader::position).containsExactly(100L);
    }

    @Test
    void failureOfTheThreadIsReportedBeforeAnyTaskIsRefused() throws Exception {
        log.close();
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        // The thread catches exceptions that begin and finish throw, but not an exception that name throws.
        RecordSink broken = new RecordSink() {
            @Override
            public void begin(RecordBatch batch) throws IOException {
                throw new IOException("no space");
            }

            @Override
            public void finish() {
                throw new AssertionError("nothing has begun");
            }

            @Override
            public String name() {
                throw new IllegalStateException("a sink without a name");
            }

            @Override
            public void close() {
                // Nothing to close.
            }
        };
        log = log(List.of(broken), BUFFER, 1, NanoClock.SYSTEM,
            e -> events.add(e.getMessage() + ", refused because of " + log.status().failure()));
        append(0, PAGE);
        assertThat(events.poll(10, TimeUnit.SECONDS)).isEqualTo("a sink without a name, refused because of null");
        await("changes are refused", () -> log.status().failure() != null);
        assertThatThrownBy(() -> log.reserve(task("a", PAGE))).isInstanceOf(ScsiException.class)
            .hasMessageContaining(
                "the thread modeldisk-records-test has failed: java.lang.IllegalStateException: a sink without a name");
    }

    @Test
    void recordWhoseBodyCannotBeCopiedIsReportedAndReachesNoSink() throws Exception {
        log.close();
        BlockingQueue<String> failures = new LinkedBlockingQueue<>();
        log = log(List.of(sink), BUFFER, 1, NanoClock.SYSTEM, e -> failures.add(e.getMessage()));
        assertThatThrownBy(() -> log.append(RecordKind.RATE, (byte) 0, 0, 0, 7, 1, 1, 16, (memory, at) -> {
            throw new IllegalArgumentException("no body");
        })).hasMessage("no body");
        assertThat(failures.poll(10, TimeUnit.SECONDS)).isEqualTo("the body of a record could not be copied");
        assertThat(sink.records()).isEmpty();
    }
}
