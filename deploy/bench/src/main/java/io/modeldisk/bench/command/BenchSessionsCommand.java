package io.modeldisk.bench.command;

import io.modeldisk.bench.report.SessionsReport;
import io.modeldisk.bench.sessions.SessionsBench;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench sessions}. */
@Command(name = "sessions", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Measures one shard while many sessions push to it and pull from it. Shows the throughput of the slowest, the "
            + "median and the fastest session, the number of refused commands, and the memory of the shard.",
        "The command starts the shard on loopback, in a separate process."})
final class BenchSessionsCommand implements Callable<Integer> {
    private static final int MOST_SESSIONS = 4096;

    @Option(names = "--sessions", paramLabel = "N", defaultValue = "256",
        description = "The number of sessions. Each session pushes and pulls alternately.")
    private int sessions;

    @Option(names = "--stopped-readers", paramLabel = "N", defaultValue = "0",
        description = "The number of additional sessions that request 16 MiB of weights but do not read the response. "
            + "The benchmark shows whether these sessions delay the other sessions.")
    private int stoppedReaders;

    @Option(names = "--size", paramLabel = "BYTES", defaultValue = "256KiB",
        description = "The size of a request: a multiple of 4 KiB up to 8 MiB.")
    private ByteSize size;

    @Option(names = "--queue-depth", paramLabel = "N", defaultValue = "2",
        description = "The maximum number of requests in flight for each session.")
    private int queueDepth;

    @Option(names = "--duration", paramLabel = "TIME", defaultValue = "60s",
        description = "The duration of the measurement.")
    private Duration duration;

    @Option(names = "--aggregator", paramLabel = "NAME[:OPTIONS]", defaultValue = "sgd:lr=0.1",
        description = "The aggregator of the shard.")
    private String aggregator;

    @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "256MiB",
        description = "The size of the shard's model.")
    private ByteSize modelSize;

    @Mixin
    private ReportOptions output;

    @Override
    public Integer call() throws IOException {
        output.check();
        check("--sessions", sessions, 1, MOST_SESSIONS);
        check("--stopped-readers", stoppedReaders, 0, MOST_SESSIONS);
        check("--queue-depth", queueDepth, 1, 1023);
        check("--size", size.bytes(), LogicalBlock.BYTES, Math.min(8 << 20, modelSize.bytes()));
        if (size.bytes() % LogicalBlock.BYTES != 0) {
            throw new IllegalArgumentException(
                "--size " + size.bytes() + " must be a multiple of " + LogicalBlock.BYTES);
        }
        check("--model-size", modelSize.bytes(), stoppedReaders > 0 ? 8 << 20 : LogicalBlock.BYTES,
            Long.MAX_VALUE);
        DurationRange.check("--duration", duration, Duration.ofSeconds(1), Duration.ofDays(1));
        SessionsReport report;
        try (BenchShard shard = BenchShard.startFor(sessions + stoppedReaders,
            System.getProperty("modeldisk.command"), aggregator, modelSize.bytes())) {
            report = SessionsBench.run(shard,
                new SessionsBench.Plan(sessions, stoppedReaders, (int) size.bytes(), queueDepth,
                    duration.toNanos() / 1e9,
                    Long.MAX_VALUE));
        }
        output.write(report);
        return report.failures().isEmpty() ? 0 : 1;
    }

    private static void check(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(option + " " + value + " must be from " + least + " to " + most);
        }
    }
}
