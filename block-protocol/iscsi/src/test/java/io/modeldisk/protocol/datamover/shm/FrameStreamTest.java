package io.modeldisk.protocol.datamover.shm;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.SocketMessage;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

// The test runs in a separate thread, because a thread that waits for a missing frame ignores the interrupt of a time-out.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class FrameStreamTest {
    private static final int TAG_FIELD = 16;
    private static final int MOST_HELD = 16;
    /** The number of frames in a batch, which is larger than the maximum number of frames that are held back. */
    private static final int FRAMES = 21;

    private final CountingClock clockOfFar = new CountingClock();
    private UnixSocket[] sockets;
    private FrameStream near;
    private FrameStream far;

    private static final class CountingClock implements NanoClock {
        private final AtomicInteger reads = new AtomicInteger();

        @Override
        public long nanoTime() {
            reads.incrementAndGet();
            return SYSTEM.nanoTime();
        }

        @Override
        public boolean awaitUntil(Condition condition, long deadlineNs) throws InterruptedException {
            return SYSTEM.awaitUntil(condition, deadlineNs);
        }

        @Override
        public void sleepUntil(long deadlineNs) throws InterruptedException {
            SYSTEM.sleepUntil(deadlineNs);
        }
    }

    @BeforeEach
    void connect() throws IOException {
        sockets = UnixSocket.pair();
        near = new FrameStream(sockets[0], "far", NanoClock.SYSTEM);
        far = new FrameStream(sockets[1], "near", clockOfFar);
    }

    @AfterEach
    void close() {
        near.close();
        far.close();
    }

    private static Pdu pdu(int tag) {
        return new Pdu(Pdu.newHeader().putInt(TAG_FIELD, tag));
    }

    private static void send(FrameStream stream, int tag) throws IOException {
        try (Held _ = stream.writer().lock()) {
            stream.writer().send(pdu(tag), null, Frame.NO_TAG, 0);
        }
    }

    private void ask(int frames) throws IOException {
        for (int i = 0; i < frames; i++) {
            send(near, i);
        }
    }

    private static int tagOfNext(FrameStream stream) throws IOException {
        ByteBuffer header = Pdu.newHeader();
        stream.reader().next();
        stream.reader().header(header);
        return header.getInt(TAG_FIELD);
    }

    private void answer(int tag) throws IOException {
        try (Held _ = far.writer().lock()) {
            far.writer().answer(pdu(tag), far.reader().hasNext());
        }
    }

    private void answerNext(int requests) throws IOException {
        for (int i = 0; i < requests; i++) {
            answer(tagOfNext(far));
        }
    }

    private static void assertTags(FrameStream stream, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            assertThat(tagOfNext(stream)).isEqualTo(i);
        }
    }

    private static <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> started = new FutureTask<>(call);
        Thread.ofPlatform().daemon().start(started);
        return started;
    }

    @Test
    void allResponsesAreSentBeforeTheReadingThreadWaits() throws Exception {
        ask(FRAMES);
        answerNext(FRAMES);
        FutureTask<Integer> waits = start(() -> tagOfNext(far));
        assertTags(near, 0, FRAMES);
        far.stop();
        assertThatThrownBy(() -> waits.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(ClosedChannelException.class);
    }

    @Test
    void responseIsHeldBackOnlyIfTheNextRequestIsInTheBuffer() throws IOException {
        ask(2);
        answerNext(1);
        send(far, 7);
        assertTags(near, 0, 1);
        assertTags(near, 7, 8);
        answerNext(1);
        assertTags(near, 1, 2);
    }

    @Test
    void responseSentByAThreadOtherThanTheReadingThreadIsNotHeldBack() throws Exception {
        ask(2);
        assertThat(tagOfNext(far)).isZero();
        start(() -> {
            answer(0);
            return null;
        }).get(10, TimeUnit.SECONDS);
        assertTags(near, 0, 1);
    }

    /** Responds to 16 batches of requests without waiting. The number of responses per system call is then at its maximum. */
    private void answerWithoutWaiting() throws IOException {
        for (int round = 0; round < MOST_HELD; round++) {
            ask(FRAMES);
            answerNext(FRAMES);
        }
    }

    private void skipAnswersOfAllBatches() throws IOException {
        for (int i = 0; i < MOST_HELD * FRAMES; i++) {
            tagOfNext(near);
        }
    }

    /**
     * Fails if the socket or the reader contains unread bytes. A Unix socket delivers bytes at once, so this method need not
     * wait.
     */
    private static void assertNothingCame(FrameStream stream, UnixSocket socket) {
        assertThat(stream.reader().hasNext()).isFalse();
        ByteBuffer bytes = ByteBuffer.allocateDirect(Frame.BYTES);
        assertThat(socket.enter()).isTrue();
        try {
            assertThat(Errno.EAGAIN.is(new SocketMessage(socket, bytes).receive(0, Frame.BYTES))).isTrue();
        } finally {
            socket.leave();
        }
    }

    @Test
    void sixteenResponsesAreSentTogetherIfTheReadingThreadNeverHadToWait() throws IOException {
        answerWithoutWaiting();
        ask(FRAMES);
        skipAnswersOfAllBatches();
        answerNext(MOST_HELD - 1);
        assertNothingCame(near, sockets[0]);
        answerNext(1);
        assertTags(near, 0, MOST_HELD);
    }

    @Test
    void fewerThanSixteenResponsesAreSentTogetherAfterTheReadingThreadHadToWait() throws Exception {
        answerWithoutWaiting();
        // After stopBy, the reader reads the clock before each attempt to receive, so the first attempt has waited before the
        // second read.
        far.reader().stopBy(TimeUnit.HOURS.toNanos(1));
        int reads = clockOfFar.reads.get();
        FutureTask<Integer> waits = start(() -> tagOfNext(far));
        await("the reading thread has waited", () -> clockOfFar.reads.get() >= reads + 2);
        skipAnswersOfAllBatches();
        ask(FRAMES);
        waits.get(10, TimeUnit.SECONDS);
        answerNext(FRAMES - 1);
        ask(FRAMES);
        answerNext(MOST_HELD / 2);
        assertTags(near, 1, FRAMES);
        FutureTask<Integer> next = start(() -> tagOfNext(near));
        // The wait has at least halved the number of responses per system call, to at most 8. The two batches after the wait have
        // increased this number to at most 10. Eight responses are held back, so two more responses are enough for a system call.
        answerNext(2);
        assertThat(next.get(10, TimeUnit.SECONDS)).isZero();
    }

    private void command(int tag, boolean more) throws IOException {
        try (Held _ = near.writer().lock()) {
            near.writer().command(pdu(tag), Frame.NO_TAG, 0, more);
        }
    }

    @Test
    void commandsAreHeldBackUntilFlush() throws IOException {
        command(0, true);
        command(1, true);
        assertNothingCame(far, sockets[1]);
        near.writer().flush();
        assertTags(far, 0, 2);
    }

    @Test
    void lastCommandOfABatchIsSentTogetherWithTheHeldBackCommands() throws IOException {
        command(0, true);
        command(1, false);
        assertTags(far, 0, 2);
    }

    @Test
    void heldBackCommandsAreSentBeforeALaterFrame() throws IOException {
        command(0, true);
        send(near, 1);
        assertTags(far, 0, 2);
    }

    @Test
    void atMostEightCommandsAreHeldBack() throws IOException {
        for (int i = 0; i < 8; i++) {
            command(i, true);
        }
        assertTags(far, 0, 8);
    }
}
