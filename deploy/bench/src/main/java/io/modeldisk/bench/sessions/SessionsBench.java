package io.modeldisk.bench.sessions;

import io.modeldisk.bench.report.SessionsReport;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.ProcessUsage;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Isid;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Measures the throughput of many sessions that push to and pull from one shard at the same time. */
public final class SessionsBench {
    private static final String INITIATOR = "iqn.2026-11.io.modeldisk:bench-";
    private static final long SETTLE_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long SAMPLE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long COMMAND_TIMEOUT_MS = 60_000;

    private SessionsBench() {}

    /**
     * The plan of a run.
     *
     * @param sessions the number of sessions that push and pull
     * @param stoppedReaders the number of additional sessions, which request weights and do not read them
     * @param requestBytes the size of a request
     * @param queueDepth the maximum number of requests in flight of a session
     * @param seconds the maximum duration of the run
     * @param requests the maximum number of requests of a session
     */
    public record Plan(
        int sessions, int stoppedReaders, int requestBytes, int queueDepth, double seconds, long requests) {}

    /** Runs a plan on a shard. All pushed gradients are zero. */
    public static SessionsReport run(BenchShard shard, Plan plan) throws IOException {
        List<BusySession> busy = new ArrayList<>();
        List<StoppedReader> stopped = new ArrayList<>();
        try (
            DataMemory memory = DataMemory.allocate(BusySession.memoryBytes(plan.requestBytes(), plan.queueDepth()));
            DataMemory never = DataMemory.allocate(StoppedReader.REQUEST_BYTES)) {
            try {
                for (int i = 0; i < plan.stoppedReaders(); i++) {
                    IscsiSession session = login(shard, "stopped-" + i, StoppedReader.QUEUE_DEPTH);
                    stopped.add(new StoppedReader(session, never));
                }
                for (int i = 0; i < plan.sessions(); i++) {
                    IscsiSession session = login(shard, Integer.toString(i), plan.queueDepth());
                    busy.add(new BusySession(session, memory, shard.facts(), plan.requestBytes(), plan.queueDepth()));
                }
                return measure(shard, plan, busy);
            } finally {
                stopped.forEach(StoppedReader::goOn);
                closeAll(Stream.concat(stopped.stream().map(session -> session::close),
                    busy.stream().map(session -> session::close)));
            }
        }
    }

    /** Closes all sessions in parallel, since closing a session may wait for a response. */
    private static void closeAll(Stream<Runnable> closings) throws IOException {
        for (Thread closing : closings.map(Thread::startVirtualThread).toList()) {
            join(closing);
        }
    }

    private static IscsiSession login(BenchShard shard, String name, int queueDepth) throws IOException {
        IscsiSession session = IscsiSession.login(new SessionContext()
            .portal(shard.portal())
            .targetName(ModelFacts.TARGET_PREFIX + shard.facts().model())
            .initiator(INITIATOR + name, Isid.random())
            .commandTimeout(Duration.ofMillis(COMMAND_TIMEOUT_MS))
            .queueDepth(queueDepth));
        try {
            UnitReadiness.await(session, BusySession.TRAIN_LUN);
            return session;
        } catch (IOException e) {
            session.close();
            throw e;
        }
    }

    private static SessionsReport measure(BenchShard shard, Plan plan, List<BusySession> sessions)
        throws IOException {
        long begun = System.nanoTime();
        long end = begun + (long) (plan.seconds() * SAMPLE_NS);
        List<Thread> drivers = sessions.stream()
            .map(session -> Thread.ofPlatform().daemon().name("bench-session")
                .start(() -> session.run(plan.requests(), () -> System.nanoTime() - end < 0)))
            .toList();
        List<SessionsReport.Sample> samples = new ArrayList<>();
        // The first sample is taken when the shard has probably allocated the memory of every session.
        long next = begun + Math.min(SETTLE_NS, (end - begun) / 2);
        while (System.nanoTime() - end < 0 && drivers.stream().anyMatch(Thread::isAlive)) {
            while (System.nanoTime() - next < 0) {
                LockSupport.parkNanos(next - System.nanoTime());
            }
            next += SAMPLE_NS;
            ProcessUsage usage = shard.usage();
            if (usage != null) {
                samples.add(new SessionsReport.Sample(usage.residentBytes(), usage.threads()));
            }
        }
        for (Thread driver : drivers) {
            join(driver);
        }
        return new SessionsReport((System.nanoTime() - begun) / (double) SAMPLE_NS,
            sessions.stream().map(BusySession::movedBytes).toList(),
            sessions.stream().map(BusySession::longestNs).toList(), plan.stoppedReaders(),
            sessions.stream().mapToLong(BusySession::busyCount).sum(),
            sessions.stream().mapToLong(BusySession::taskSetFullCount).sum(),
            sessions.stream().map(BusySession::failure).filter(Objects::nonNull).distinct().toList(), samples);
    }

    private static void join(Thread thread) throws IOException {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait for a session was interrupted", e);
        }
    }
}
