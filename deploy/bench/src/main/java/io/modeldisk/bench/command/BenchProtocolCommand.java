package io.modeldisk.bench.command;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.protocol.LatencyPlan;
import io.modeldisk.bench.protocol.ProtocolBench;
import io.modeldisk.bench.protocol.ThroughputPlan;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code modeldisk bench protocol}. */
@Command(name = "protocol", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Measures the throughput and latency of one session and of a baseline: blocking sockets with the same options (no "
            + "delay, keep-alive, no pacing on one machine) that move the same data from and to the same memory without a "
            + "protocol. The two run in turn. The table shows the medians, and the median, minimum and maximum of the ratios.",
        "It starts a shard and the baseline's server on loopback, each in a process of its own."},
    footer = {"", "Examples:", "  modeldisk bench protocol",
        "  modeldisk bench protocol --sizes 256k --duration 2 \\",
        "      --aggregators null,sgd:lr=0.1"})
final class BenchProtocolCommand implements Callable<Integer> {
    /** A comma after which a name stands, and no option of the name before. */
    private static final String NEXT_NAME = ",(?=[a-z0-9-]+(?::|,|$))";

    private static final long LARGEST_REQUEST_BYTES = 8 << 20;

    @Option(names = "--sizes", paramLabel = "BYTES", split = ",", defaultValue = "4k,32k,256k,1m,4m",
        description = "The sizes of requests: multiples of 4 KiB up to 8 MiB.")
    private List<ByteSize> sizes;

    @Option(names = "--latency-sizes", paramLabel = "BYTES", split = ",",
        defaultValue = "2,64,512,4k,32k,256k,1m,8m",
        description = "The sizes of requests for latency, up to 8 MiB. Below 4 KiB, a pull reads a logical block and "
            + "uses a part of it, and a push moves a whole one.")
    private List<ByteSize> latencySizes;

    @Option(names = "--measures", paramLabel = "WHAT", split = ",", defaultValue = "throughput,latency",
        description = "One or more of ${COMPLETION-CANDIDATES}.")
    private List<Measure> measures;

    @Option(names = "--queue-depths", paramLabel = "N", split = ",", defaultValue = "32",
        description = "The number of requests in flight in each direction; a mount has 32 on each shard.")
    private List<Integer> queueDepths;

    @Option(names = "--gradient-size", paramLabel = "BYTES", defaultValue = "0",
        description = "The memory that pushes are sent from, in turn, as the gradient of a whole model: up to 1 GiB. If it "
            + "is smaller than the requests in flight, one buffer for each of them.")
    private ByteSize gradientSize;

    @Option(names = "--directions", paramLabel = "DIRECTION", split = ",", defaultValue = "push,pull,both",
        description = "One or more of ${COMPLETION-CANDIDATES}.")
    private List<Direction> directions;

    @Option(names = "--aggregators", paramLabel = "NAME[:OPTIONS]", defaultValue = "null,sgd:lr=0.1",
        description = "The aggregators of the shard; null drops pushes.")
    private String aggregators;

    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "tcp",
        description = "tcp, shm, or both in the same run. With shm the work of the shard alone is measured in turn too, as "
            + "the upper bound: one thread that aggregates a buffer, or copies weights to a buffer (for a pull, and for a "
            + "push to null).")
    private List<String> datamovers;

    @Option(names = "--pairs", paramLabel = "N", defaultValue = "5",
        description = "The number of measurements of each, in turn with the baseline.")
    private int pairs;

    @Option(names = "--duration", paramLabel = "TIME", defaultValue = "250ms",
        description = "The approximate duration of a run.")
    private Duration duration;

    @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "256MiB",
        description = "The size of the shard's model; it should exceed the processor's cache.")
    private ByteSize modelSize;

    @Mixin
    private ReportOptions.WithPlot output;

    @ArgGroup(exclusive = false, heading = "%nTo measure a shard that is running, with pushes of zeros:%n")
    private Running running;

    /** What can be measured. */
    enum Measure {
        /** What many requests move in a second. */
        THROUGHPUT,
        /** How long one request takes. */
        LATENCY
    }

    /** The two ends on another machine. */
    static final class Running {
        @Option(names = "--running", paramLabel = "modeldisk://HOST:PORT/NAME", required = true,
            description = "The shard.")
        private String shard;

        @Option(names = {"--baseline", "--floor"}, paramLabel = "HOST:PORT", required = true,
            description = "The address of `modeldisk bench baseline` on the machine of the shard.")
        private String baseline;
    }

    @Override
    public Integer call() throws IOException {
        ThroughputPlan throughput = measures.contains(Measure.THROUGHPUT)
            ? new ThroughputPlan(directions, requestBytes(), queueDepths, gradientBytes(),
                positive("--pairs", pairs), runMillis())
            : null;
        LatencyPlan latency = measures.contains(Measure.LATENCY)
            ? new LatencyPlan(latencyBytes(), positive("--pairs", pairs), Math.max(1, runMillis() / pairs))
            : null;
        output.check();
        ProtocolBench.Context context = new ProtocolBench.Context().modeldisk(System.getProperty("modeldisk.command"))
            .datamovers(datamovers.stream().map(Route.Preference::named).toList())
            .modelBytes(modelSize.bytes()).aggregators(aggregatorList())
            .progress(Progress::show);
        if (running != null) {
            context.running(ModelAddress.parse(running.shard), ModelAddress.parsePortal(running.baseline, 0));
        }
        output.write(new ProtocolBench(context).run(throughput, latency));
        return 0;
    }

    private static int positive(String option, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(option + " " + value + " must be at least 1");
        }
        return value;
    }

    /** The aggregators one by one. */
    List<String> aggregatorList() {
        return List.of(aggregators.split(NEXT_NAME));
    }

    /** The sizes for latency, checked. */
    List<Integer> latencyBytes() {
        List<Integer> checked = new ArrayList<>();
        for (ByteSize size : latencySizes) {
            if (size.bytes() < 1 || size.bytes() > Math.min(LARGEST_REQUEST_BYTES, modelSize.bytes())) {
                throw new IllegalArgumentException("--latency-sizes " + size.bytes()
                    + " must be from 1 byte to 8 MiB, and no more than the model");
            }
            checked.add((int) size.bytes());
        }
        return checked;
    }

    /** The sizes for throughput, checked. */
    List<Integer> requestBytes() {
        List<Integer> checked = new ArrayList<>();
        for (ByteSize size : sizes) {
            long bytes = size.bytes();
            if (bytes < LogicalBlock.BYTES || bytes > LARGEST_REQUEST_BYTES
                || bytes % LogicalBlock.BYTES != 0 || bytes > modelSize.bytes()) {
                throw new IllegalArgumentException("--sizes " + bytes
                    + " must be a multiple of 4096, at most 8 MiB and no more than the model");
            }
            checked.add((int) bytes);
        }
        return checked;
    }

    /** The memory that pushes come from, checked: no request may straddle two slabs. */
    long gradientBytes() {
        if (gradientSize.bytes() > DataMemory.SLAB_BYTES) {
            throw new IllegalArgumentException("--gradient-size " + gradientSize.bytes() + " must be at most 1 GiB");
        }
        return gradientSize.bytes();
    }

    private long runMillis() {
        DurationRange.check("--duration", duration, Duration.ofMillis(10), Duration.ofHours(1));
        return duration.toMillis();
    }
}
