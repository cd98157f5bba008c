package io.modeldisk.command;

import io.modeldisk.command.process.ServiceNotices;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.server.ParameterServer;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The work of a process that serves a shard, as the service manager watches it. The process can close its server and launch
 * another, for example to go back to a checkpoint.
 */
final class ShardWork implements ServiceNotices.Work {
    /**
     * The time limit of a repeated start. It equals TimeoutStartSec= of the systemd unit in deploy/packages, which limits the
     * first start.
     */
    static final Duration START = Duration.ofMinutes(30);

    private final Supplier<ParameterServer> server;
    private final NanoClock clock;
    // Used only by the thread that calls check.
    private boolean starts;
    private long startNs;

    /**
     * Creates the work.
     *
     * @param server returns the current server; returns null or a closed server while the shard starts again
     */
    ShardWork(Supplier<ParameterServer> server, NanoClock clock) {
        this.server = server;
        this.clock = clock;
    }

    /**
     * Checks that the server works, or that the start has not taken too long.
     *
     * @return a few words about the progress of the shard
     */
    @Override
    public String check() throws IOException {
        ParameterServer current = server.get();
        Optional<ShardCounters> counters = current == null ? Optional.empty() : current.check();
        if (counters.isPresent()) {
            starts = false;
            return words(counters.get());
        }
        if (!starts) {
            starts = true;
            startNs = clock.nanoTime();
        }
        if (clock.nanoTime() - startNs > START.toNanos()) {
            throw new IOException("the shard has tried to start again for more than " + DurationText.format(START));
        }
        return "starts again";
    }

    private static String words(ShardCounters counters) {
        return PlainText.format("version %d, round %d, %s%s", counters.maxVersion(), counters.openedRound(),
            Plural.counted(counters.learners(), "learner"),
            counters.stopped() ? ", stopped because too few learners are left" : "");
    }
}
