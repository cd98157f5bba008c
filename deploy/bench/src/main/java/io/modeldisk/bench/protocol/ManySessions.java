package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Measured;
import io.modeldisk.bench.load.Progress;
import io.modeldisk.bench.protocol.ProtocolPlan.Measure;
import io.modeldisk.bench.report.Report;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.report.Table;
import io.modeldisk.bench.report.Unit;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.Closing;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Measures many sessions that push to and pull from one shard over TCP at the same time. All pushed gradients are zero. */
public final class ManySessions {
    private static final int QUEUE_DEPTH = 2;
    /** The number of requests in a burst. A session sends a burst of pushes and a burst of pulls in turn. */
    private static final int BURST = 8;
    /** The number of measured sessions for each stopped reader. At least one stopped reader is opened. */
    private static final int SESSIONS_OF_A_STOPPED_READER = 8;
    private static final double MEBI = 1 << 20;

    private ManySessions() {}

    /**
     * Measures each number of sessions in a plan, without and with stopped readers. The shard has the first aggregator of the
     * plan.
     */
    static void measure(ProtocolPlan plan, Report report) throws IOException {
        Table table = report.table("sessions",
            "Sessions on one shard, each of which pushes and pulls in turn; stopped readers are additional sessions that "
                + "request weights and do not read them",
            "sessions", "stopped readers", "request");
        for (int count : plan.clientsOf(Measure.SESSIONS)) {
            int readers = Math.max(1, count / SESSIONS_OF_A_STOPPED_READER);
            try (BenchShard shard = BenchShard.start(Durability.MEMORY, plan.aggregators().getFirst(),
                plan.modelBytes(), plan.datamovers(), count + readers)) {
                for (int bytes : plan.sizesOf(Measure.SESSIONS)) {
                    for (int stopped : new int[]{0, readers}) {
                        Progress.show(
                            Plural.counted(count, "session") + " and " + Plural.counted(stopped, "stopped reader"));
                        long before = shard.residentBytes();
                        long runNs = TimeUnit.MILLISECONDS.toNanos(plan.runMs(Measure.SESSIONS));
                        Samples all = Measured.gigabytesPerSecond(
                            run(shard, count, stopped, bytes, Long.MAX_VALUE, runNs), bytes);
                        table.row(count, stopped, new ByteSize(bytes))
                            .put("all", Unit.GIGABYTES_PER_SECOND, new Samples(Arrays.stream(all.values()).sum()))
                            .put("median session", Unit.GIGABYTES_PER_SECOND, new Samples(all.median()))
                            .put("slowest", Unit.GIGABYTES_PER_SECOND, new Samples(all.min()))
                            .put("median / slowest", Unit.NUMBER, new Samples(all.median() / all.min()))
                            .put("shard before", Unit.MEBIBYTES, new Samples(before / MEBI))
                            .put("after", Unit.MEBIBYTES,
                                new Samples(shard.residentBytes() / MEBI));
                    }
                }
            }
        }
    }

    /**
     * Runs sessions at the same time. Returns the number of requests of each session, and the time that they took.
     *
     * @param stoppedReaders the number of additional sessions, which request weights and do not read them
     * @param requests the number of requests of each session, a multiple of 16
     * @param runNs the time after which no session begins another burst
     * @throws IOException if the shard refuses a command
     */
    public static List<Measured> run(
        BenchShard shard, int sessions, int stoppedReaders, int requestBytes, long requests, long runNs)
        throws IOException {
        Load push = new Load(Direction.PUSH, requestBytes, QUEUE_DEPTH, BURST);
        Load pull = new Load(Direction.PULL, requestBytes, QUEUE_DEPTH, BURST);
        try (Closing opened = new Closing()) {
            DataMemory never = opened.add(DataMemory.allocate(StoppedReader.REQUEST_BYTES));
            for (int i = 0; i < stoppedReaders; i++) {
                opened.add(StoppedReader.open(shard, never, "-stopped-" + i));
            }
            List<SessionMover> movers = new ArrayList<>();
            for (int i = 0; i < sessions; i++) {
                SessionMover mover = opened.add(new SessionMover(shard, Route.Preference.TCP,
                    (long) QUEUE_DEPTH * requestBytes, 0, false, "-" + i));
                // The session logs in here, so the measurement does not include logins.
                mover.move(pull.withRequests(1));
                movers.add(mover);
            }
            List<Callable<Measured>> tasks = new ArrayList<>();
            for (SessionMover mover : movers) {
                tasks.add(() -> {
                    long begun = System.nanoTime();
                    long sent = 0;
                    for (; sent < requests && System.nanoTime() - begun < runNs; sent += 2 * BURST) {
                        mover.move(push);
                        mover.move(pull);
                    }
                    return Measured.of(sent, System.nanoTime() - begun);
                });
            }
            return ClosedLoop.together(tasks);
        }
    }
}
