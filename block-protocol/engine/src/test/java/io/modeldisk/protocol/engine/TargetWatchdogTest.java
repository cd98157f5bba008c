package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of the watchdog that checks connections. Only the test advances the clock. */
@Timeout(60)
class TargetWatchdogTest {
    private static final Duration STEP = Duration.ofMillis(500);
    private static final Duration SILENCE_BOUND = Duration.ofSeconds(10);
    private static final int NOP_IN = 0x20;

    private final ManualClock clock = new ManualClock();
    private Serving serving;
    private RawInitiator raw;

    @BeforeEach
    void serve() throws IOException {
        serving = new Serving(context -> context.clock(clock));
        serving.target.silenceBoundNs = SILENCE_BOUND.toNanos();
        raw = serving.login();
    }

    @AfterEach
    void close() throws IOException {
        raw.close();
        serving.close();
    }

    /** Advances the clock in steps until a condition is true. The watchdog runs at each step, as it does in a running process. */
    private void advanceInStepsUntil(String message, Callable<Boolean> condition) {
        await(message, () -> {
            clock.advance(STEP);
            return condition.call();
        });
    }

    @Test
    void initiatorIsNotDisconnectedAfterTheTargetProcessWasSuspended() throws IOException {
        await("the watchdog waits for its next run", () -> clock.waitingThreads() > 0);
        int checks = serving.target.silenceChecks.get();
        clock.advance(SILENCE_BOUND.multipliedBy(2));
        await("the watchdog runs", () -> serving.target.silenceChecks.get() > checks);
        for (int i = 0; i < 5; i++) {
            assertThat(raw.ping(RawInitiator.EMPTY).opcode()).isEqualTo(NOP_IN);
            clock.advance(STEP);
        }
        assertThat(serving.target.nexusEvents).containsExactly("established iqn.test:raw");
    }

    @Test
    void silentInitiatorIsPingedThenReportedAndDisconnected() throws IOException {
        for (Duration silent = Duration.ZERO; silent.compareTo(SILENCE_BOUND.dividedBy(2)) <= 0; silent = silent
            .plus(STEP)) {
            await("the watchdog waits for its next run", () -> clock.waitingThreads() > 0);
            int checks = serving.target.silenceChecks.get();
            clock.advance(STEP);
            await("the watchdog runs", () -> serving.target.silenceChecks.get() > checks);
        }
        assertThat(raw.receive().opcode()).as("the ping").isEqualTo(NOP_IN);
        advanceInStepsUntil("the target is notified of the silent nexus",
            () -> serving.target.nexusEvents.contains("silent iqn.test:raw"));
        assertThat(raw.isClosedByTarget()).isTrue();
        await("the session is lost", () -> serving.target.nexusEvents.contains("lost iqn.test:raw"));
        assertThat(serving.target.nexusEvents).containsExactly("established iqn.test:raw", "silent iqn.test:raw",
            "lost iqn.test:raw");
    }

    /** A late report of the old session's silence would start the lease of a learner that has already reconnected. */
    @Test
    void silenceIsNotReportedAfterANewSessionOfTheNexusIsEstablished() throws Exception {
        CountDownLatch reporting = new CountDownLatch(1);
        serving.target.silencing = () -> {
            reporting.countDown();
            // During this delay, the new session would be established if SessionTable held no lock.
            for (int i = 0; i < 100 && count("established") < 2; i++) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            }
        };
        FutureTask<RawInitiator> again = new FutureTask<>(() -> {
            reporting.await();
            return RawInitiator.justLoggedIn(serving.server, "iqn.test:raw");
        });
        Thread.ofVirtual().start(again);
        advanceInStepsUntil("the target is notified of the silent nexus", () -> count("silent") == 1);
        try (RawInitiator _ = again.get(20, TimeUnit.SECONDS)) {
            await("the new session is established", () -> count("established") == 2);
            assertThat(serving.target.nexusEvents).last().isEqualTo("established iqn.test:raw");
        }
    }

    private long count(String event) {
        return serving.target.nexusEvents.stream().filter(one -> one.startsWith(event)).count();
    }

    @Test
    void errorInATargetDoesNotStopTheWatchdog() throws IOException {
        AtomicInteger failures = new AtomicInteger();
        serving.target.silencing = () -> {
            failures.incrementAndGet();
            throw new OutOfMemoryError("the test simulates an error in the target");
        };
        advanceInStepsUntil("the watchdog fails", () -> failures.get() > 0);
        try (RawInitiator _ = new RawInitiator(serving.server.localAddress())) {
            await("both initiators are connected", () -> serving.server.connectionCount() == 2);
            advanceInStepsUntil("the connection that does not log in is closed",
                () -> serving.server.connectionCount() == 1);
        }
    }

    @Test
    void responseToAFailedLoginIsDelayed() throws Exception {
        try (RawInitiator bad = new RawInitiator(serving.server.localAddress())) {
            FutureTask<Integer> status = new FutureTask<>(
                () -> bad.login(1, 3, "InitiatorName=iqn.test:bad", "SessionType=Nonsense").loginStatus());
            Thread.ofVirtual().start(status);
            await("the login response and the watchdog wait", () -> clock.waitingThreads() == 2);
            assertThat(status.isDone()).isFalse();
            clock.advance(Duration.ofMillis(100));
            assertThat(status.get(20, TimeUnit.SECONDS)).isEqualTo(0x0209);
        }
    }

    @Test
    void connectionsWithoutALoginRequestDoNotDelayALearner() throws IOException {
        RawInitiator[] halfOpen = new RawInitiator[TargetContext.DEFAULT_MAX_LOGINS * 2];
        for (int i = 0; i < halfOpen.length; i++) {
            halfOpen[i] = new RawInitiator(serving.server.localAddress());
        }
        try (RawInitiator learner = new RawInitiator(serving.server.localAddress(), "127.0.0.2")) {
            // The clock does not advance, so the target does not replace a connection that has not logged in.
            assertThat(
                learner.login(1, 3, "InitiatorName=iqn.test:learner", "TargetName=" + MemoryTarget.NAME).loginStatus())
                .isZero();
        }
        for (RawInitiator one : halfOpen) {
            one.close();
        }
    }
}
