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
import java.util.concurrent.CompletableFuture;
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

    private void ask(int frames) throws IOException {
        try (Held _ = near.writer().lock()) {
            for (int i = 0; i < frames; i++) {
                near.writer().send(pdu(i), null, Frame.NO_TAG, 0);
            }
        }
    }

    private static int tagOfNext(FrameStream stream) throws IOException {
        ByteBuffer header = Pdu.newHeader();
        stream.reader().next();
        stream.reader().header(header);
        return header.getInt(TAG_FIELD);
    }

    private void answerNext() throws IOException {
        int tag = tagOfNext(far);
        try (Held _ = far.writer().lock()) {
            far.writer().answer(pdu(tag), far.reader().hasNext());
        }
    }

    private void assertAnswers(int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            assertThat(tagOfNext(near)).isEqualTo(i);
        }
    }

    @Test
    void allResponsesAreSentBeforeTheReadingThreadWaits() throws Exception {
        ask(FRAMES);
        for (int i = 0; i < FRAMES; i++) {
            answerNext();
        }
        CompletableFuture<Void> waits = CompletableFuture.runAsync(() -> assertThatThrownBy(far.reader()::next)
            .isInstanceOf(ClosedChannelException.class));
        assertAnswers(0, FRAMES);
        far.stop();
        waits.get(10, TimeUnit.SECONDS);
    }

    @Test
    void responseIsHeldBackOnlyIfTheNextRequestIsInTheBuffer() throws IOException {
        ask(2);
        answerNext();
        try (Held _ = far.writer().lock()) {
            far.writer().send(pdu(7), null, Frame.NO_TAG, 0);
        }
        assertAnswers(0, 1);
        assertAnswers(7, 8);
        answerNext();
        assertAnswers(1, 2);
    }

    @Test
    void responseSentByAThreadOtherThanTheReadingThreadIsNotHeldBack() throws Exception {
        ask(2);
        assertThat(tagOfNext(far)).isZero();
        CompletableFuture.runAsync(() -> {
            try (Held _ = far.writer().lock()) {
                far.writer().answer(pdu(0), far.reader().hasNext());
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }).get(10, TimeUnit.SECONDS);
        assertAnswers(0, 1);
    }

    /** Responds to 16 batches of requests without waiting. The number of responses per system call is then at its maximum. */
    private void answerWithoutWaiting() throws IOException {
        for (int round = 0; round < MOST_HELD; round++) {
            ask(FRAMES);
            for (int i = 0; i < FRAMES; i++) {
                answerNext();
            }
        }
    }

    private CompletableFuture<Integer> nextTag(FrameStream stream) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return tagOfNext(stream);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
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
        for (int i = 0; i < MOST_HELD * FRAMES; i++) {
            tagOfNext(near);
        }
        for (int i = 0; i < MOST_HELD - 1; i++) {
            answerNext();
        }
        assertNothingCame(near, sockets[0]);
        answerNext();
        assertAnswers(0, MOST_HELD);
    }

    @Test
    void fewerThanSixteenResponsesAreSentTogetherAfterTheReadingThreadHadToWait() throws Exception {
        answerWithoutWaiting();
        // After stopBy, the reader reads the clock before each attempt to receive. Two reads of the clock show that it has waited
        // once.
        far.reader().stopBy(TimeUnit.HOURS.toNanos(1));
        int reads = clockOfFar.reads.get();
        CompletableFuture<Integer> waits = nextTag(far);
        await("the reading thread has waited", () -> clockOfFar.reads.get() >= reads + 2);
        for (int i = 0; i < MOST_HELD * FRAMES; i++) {
            tagOfNext(near);
        }
        ask(FRAMES);
        waits.get(10, TimeUnit.SECONDS);
        for (int i = 1; i < FRAMES; i++) {
            answerNext();
        }
        ask(FRAMES);
        for (int i = 0; i < MOST_HELD / 2; i++) {
            answerNext();
        }
        assertAnswers(1, FRAMES);
        CompletableFuture<Integer> next = nextTag(near);
        // The wait has at least halved the number of responses per system call, to at most 8. The two batches after the wait have
        // increased this number to at most 10. Eight responses are held back, so two more responses are enough for a system call.
        for (int i = 0; i < 2; i++) {
            answerNext();
        }
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
        assertThat(tagOfNext(far)).isZero();
        assertThat(tagOfNext(far)).isEqualTo(1);
    }

    @Test
    void lastCommandOfABatchIsSentTogetherWithTheCommandsHeldBack() throws IOException {
        command(0, true);
        command(1, false);
        assertThat(tagOfNext(far)).isZero();
        assertThat(tagOfNext(far)).isEqualTo(1);
    }

    @Test
    void commandsHeldBackAreSentBeforeALaterFrame() throws IOException {
        command(0, true);
        try (Held _ = near.writer().lock()) {
            near.writer().send(pdu(1), null, Frame.NO_TAG, 0);
        }
        assertThat(tagOfNext(far)).isZero();
        assertThat(tagOfNext(far)).isEqualTo(1);
    }

    @Test
    void atMostEightCommandsAreHeldBack() throws IOException {
        for (int i = 0; i < 8; i++) {
            command(i, true);
        }
        for (int i = 0; i < 8; i++) {
            assertThat(tagOfNext(far)).isEqualTo(i);
        }
    }
}
