package io.modeldisk.striping;

import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.protocol.datamover.shm.MappingLimits;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests pushes and pulls that continue after their method has returned. Over shm, their commands are held back. */
@ParameterizedClass
@EnumSource(value = Route.Preference.class, names = {"TCP", "SHM"})
@Timeout(60)
class StartedCallsTest extends ShardsFixture {
    private static final int CALL_BYTES = 6 * BLOCK;
    /** The parts of all calls fit into the queues of the shards, so all calls can be in flight. */
    private static final int CALLS = 4;
    private static final int ALL_BYTES = CALLS * CALL_BYTES;

    @TempDir
    private Path directory;
    @Parameter
    private Route.Preference datamover;
    @AutoClose
    private DataMemory buffers;
    private final byte[] data = random(ALL_BYTES, 6);
    private final AtomicInteger repeatedCompletions = new AtomicInteger();

    @Override
    @AfterEach
    void end() throws IOException {
        super.end();
        assertThat(repeatedCompletions).as("completions that were called twice").hasValue(0);
    }

    /** Serves two shards, which let a command wait for {@code waitMs} before they respond BUSY. */
    private void serve(int waitMs, Consumer<StripedModelContext> settings) throws IOException {
        buffers = DataMemory.allocateShareable(2 * ALL_BYTES);
        Path sockets = directory.resolve("sockets");
        FakeShards opened = FakeShards.of(target -> target.waitBound(Duration.ofMillis(waitMs))
            .datamovers(List.of(new TcpPortal.Opener(), new ShmPortal.Opener(sockets, new MappingLimits()))),
            ALL_BYTES, BLOCK, 2);
        serve(opened, context -> settings.accept(context.datamover(datamover).socketDirectory(sockets)
            .sessions(session -> session.commandTimeout(Duration.ofSeconds(30)))
            .reconnectTimeout(Duration.ofSeconds(30))));
        MemorySegment.copy(data, 0, buffers.slab(0), ValueLayout.JAVA_BYTE, 0, data.length);
        model.join();
    }

    private CompletableFuture<Void> start(Direction direction, int call, Cancellation cancellation) throws IOException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        RemoteModel.Completion completion = failure -> {
            boolean first = failure == null ? done.complete(null) : done.completeExceptionally(failure);
            repeatedCompletions.addAndGet(first ? 0 : 1);
        };
        long at = (long) call * CALL_BYTES;
        boolean goesOn = direction == Direction.PUSH
            ? model.startPush(at, buffers, at, CALL_BYTES, false, cancellation, completion)
            : model.startPull(at, buffers, ALL_BYTES + at, CALL_BYTES, cancellation, completion);
        if (!goesOn) {
            repeatedCompletions.addAndGet(done.complete(null) ? 0 : 1);
        }
        return done;
    }

    /** Starts a call for each part of the model. */
    private CompletableFuture<Void> startAll(Direction direction) throws IOException {
        CompletableFuture<?>[] all = new CompletableFuture<?>[CALLS];
        for (int i = 0; i < CALLS; i++) {
            all[i] = start(direction, i, Cancellation.NONE);
        }
        model.flush();
        return CompletableFuture.allOf(all);
    }

    private byte[] pulled() {
        return buffers.segment(ALL_BYTES, ALL_BYTES).toArray(ValueLayout.JAVA_BYTE);
    }

    private static void join(CompletableFuture<Void> call) throws Exception {
        call.get(30, TimeUnit.SECONDS);
    }

    @Test
    void pulledBytesEqualPushedBytes() throws Exception {
        serve(60_000, _ -> {});
        for (int i = 0; i < 20; i++) {
            buffers.segment(ALL_BYTES, ALL_BYTES).fill((byte) 0);
            join(startAll(Direction.PUSH));
            join(startAll(Direction.PULL));
            assertThat(pulled()).isEqualTo(data);
        }
    }

    @Test
    void startedCallDoesNotOccupyItsThread() throws Exception {
        serve(60_000, _ -> {});
        join(startAll(Direction.PUSH));
        shards.parking(true);
        CompletableFuture<Void> pull = start(Direction.PULL, 0, Cancellation.NONE);
        model.flush();
        await("all parts of the pull wait in the shards", () -> shards.parked() == CALL_BYTES / BLOCK);
        assertThat(pull).isNotDone();
    }

    @Test
    void callThatWaitsForAnotherCallOfItsThreadSucceeds() throws Exception {
        serve(60_000, _ -> {});
        CompletableFuture<Void> first = start(Direction.PUSH, 0, Cancellation.NONE);
        CompletableFuture<Void> second = start(Direction.PUSH, 0, Cancellation.NONE);
        model.flush();
        first.get(10, TimeUnit.SECONDS);
        second.get(10, TimeUnit.SECONDS);
    }

    @Test
    void blockingCallSendsTheCommandsThatItsThreadHasHeldBack() throws Exception {
        serve(60_000, _ -> {});
        CompletableFuture<Void> push = start(Direction.PUSH, 0, Cancellation.NONE);
        model.read(CALL_BYTES, buffers, ALL_BYTES, CALL_BYTES, Cancellation.NONE);
        push.get(10, TimeUnit.SECONDS);
    }

    @Test
    void callsBeyondTheNumberOfTransfersSucceed() throws Exception {
        serve(60_000, context -> context.concurrentCalls = 2);
        join(startAll(Direction.PUSH));
        join(startAll(Direction.PULL));
        assertThat(pulled()).isEqualTo(data);
    }

    @Test
    void callsSucceedAfterLostConnections() throws Exception {
        serve(60_000, _ -> {});
        join(startAll(Direction.PUSH));
        shards.parking(true);
        CompletableFuture<Void> pull = startAll(Direction.PULL);
        await("commands of the pulls wait in the shards", () -> shards.parked() > CALLS);
        shards.parking(false);
        shards.restart(0);
        shards.restart(1);
        join(pull);
        assertThat(pulled()).isEqualTo(data);
    }

    @Test
    void callsSucceedAfterBusy() throws Exception {
        serve(50, _ -> {});
        join(startAll(Direction.PUSH));
        shards.parking(true);
        CompletableFuture<Void> pull = startAll(Direction.PULL);
        await("commands have received BUSY", () -> shards.parkings() > 2 * ALL_BYTES / BLOCK);
        shards.parking(false);
        join(pull);
        assertThat(pulled()).isEqualTo(data);
    }

    @Test
    void cancelledCallIsNotStarted() throws Exception {
        serve(60_000, _ -> {});
        shards.parking(true);
        Cancellation cancellation = new Cancellation();
        cancellation.cancel();
        assertThatThrownBy(() -> start(Direction.PULL, 0, cancellation)).isInstanceOf(CancelledException.class);
    }

    @Test
    void callFailsWhenNoRoundCompletesWithinTheWaitTimeout() throws Exception {
        serve(60_000, context -> context.waitTimeout(Duration.ofMillis(300)));
        shards.parking(true);
        CompletableFuture<Void> pull = start(Direction.PULL, 0, Cancellation.NONE);
        model.flush();
        assertThatThrownBy(() -> join(pull)).hasCauseInstanceOf(ShardException.class)
            .hasMessageContaining("waited for a round");
    }

    @Test
    void callsEndWhenTheModelIsClosed() throws Exception {
        serve(60_000, _ -> {});
        shards.parking(true);
        CompletableFuture<Void> pull = start(Direction.PULL, 0, Cancellation.NONE);
        model.flush();
        await("commands of the pull wait in the shards", () -> shards.parked() > 1);
        model.close();
        model = null;
        assertThatThrownBy(() -> join(pull)).hasCauseInstanceOf(IOException.class);
    }
}
