package io.modeldisk.bench.command;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.protocol.LatencyPlan;
import io.modeldisk.bench.protocol.ProtocolBench;
import io.modeldisk.bench.protocol.ThroughputPlan;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.command.ModelLocators;
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

/** The command {@code modeldisk bench protocol}. */
@Command(name = "protocol", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Measures the throughput and latency of one session and of a baseline, in alternation. The baseline moves "
            + "the same data without a protocol, over blocking sockets with the same socket options as the session (no "
            + "delay, keep-alive, no pacing on one machine). The table shows the median of the session, the median of "
            + "the baseline, and the median, minimum and maximum of their ratio.",
        "Without --running, the command starts a shard and the baseline's server on loopback, each in its own "
            + "process."},
    footer = {"", "Examples:", "  modeldisk bench protocol",
        "  modeldisk bench protocol --sizes 256k --duration 2 \\",
        "      --aggregators null,sgd:lr=0.1"})
final class BenchProtocolCommand implements Callable<Integer> {
    /** Matches a comma before the name of an aggregator, but not a comma between the options of an aggregator. */
    private static final String NEXT_NAME = ",(?=[a-z0-9-]+(?::|,|$))";

    private static final long LARGEST_REQUEST_BYTES = 8 << 20;

    @Option(names = "--sizes", paramLabel = "BYTES", split = ",", defaultValue = "4k,32k,256k,1m,4m",
        description = "The request sizes for throughput: multiples of 4 KiB up to 8 MiB.")
    private List<ByteSize> sizes;

    @Option(names = "--latency-sizes", paramLabel = "BYTES", split = ",",
        defaultValue = "2,64,512,4k,32k,256k,1m,8m",
        description = "The request sizes for latency, up to 8 MiB. Below 4 KiB, a push moves a whole logical block, "
            + "and a pull reads a logical block but moves only the requested part.")
    private List<ByteSize> latencySizes;

    @Option(names = "--measures", paramLabel = "WHAT", split = ",", defaultValue = "throughput,latency",
        description = "One or more of ${COMPLETION-CANDIDATES}.")
    private List<Measure> measures;

    @Option(names = "--queue-depths", paramLabel = "N", split = ",", defaultValue = "32",
        description = "The numbers of requests in flight in each direction. A mount has 32 requests in flight for "
            + "each shard.")
    private List<Integer> queueDepths;

    @Option(names = "--gradient-size", paramLabel = "BYTES", defaultValue = "0",
        description = "The size of the gradient, up to 1 GiB. Pushes send the parts of the gradient one after "
            + "another. The gradient has at least one part for each request in flight.")
    private ByteSize gradientSize;

    @Option(names = "--directions", paramLabel = "DIRECTION", split = ",", defaultValue = "push,pull,both",
        description = "One or more of ${COMPLETION-CANDIDATES}.")
    private List<Direction> directions;

    @Option(names = "--aggregators", paramLabel = "NAME[:OPTIONS]", defaultValue = "null,sgd:lr=0.1",
        description = "The aggregators of the shard, measured one after another. The aggregator null drops pushes.")
    private String aggregators;

    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "tcp",
        description = "One or both of tcp and shm. With shm, the command also measures a second baseline: one thread "
            + "does the work of the shard in memory, without a protocol. The throughput of this thread is the upper "
            + "bound for the session. For a push, the thread applies a buffer to the model. For a pull, the thread "
            + "copies a part of the model to a buffer. For a push to the aggregator null, which drops the data, the "
            + "thread copies too.")
    private List<String> datamovers;

    @Option(names = "--durability", paramLabel = "MODE", split = ",", defaultValue = "memory",
        description = "One or more of ${COMPLETION-CANDIDATES}, measured one after another with each aggregator. With "
            + "journal, the command also measures one thread that appends the data of pushes to a file, and synchronizes "
            + "the file after each group of requests in flight. With replica, the shard has one backup on this machine.")
    private List<Durability> durabilities;

    @Option(names = "--pairs", paramLabel = "N", defaultValue = "5",
        description = "The number of measurements of the session, and also of the baseline. The measurements "
            + "alternate.")
    private int pairs;

    @Option(names = "--duration", paramLabel = "TIME", defaultValue = "250ms",
        description = "The approximate duration of one throughput measurement, or of all latency measurements of one "
            + "request size together.")
    private Duration duration;

    @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "256MiB",
        description = "The size of the shard's model, which should exceed the processor's caches.")
    private ByteSize modelSize;

    @Mixin
    private ReportOptions.WithPlot output;

    @ArgGroup(exclusive = false, heading = "%nOptions for a shard that is already running. All pushed gradients are "
        + "zero, so a shard with the aggregator assign loses its weights:%n")
    private Running running;

    /** The figures that the command can measure. */
    enum Measure {
        /** The number of bytes that a session with many requests in flight moves in a second. */
        THROUGHPUT,
        /** The time from the start to the completion of one request. */
        LATENCY
    }

    /** The addresses of a running shard and of a running baseline server. */
    static final class Running {
        @Option(names = "--running", paramLabel = "modeldisk[+zk]://HOST:PORT/NAME", required = true,
            description = "The address of the running shard.")
        private String shard;

        @Option(names = {"--baseline", "--floor"}, paramLabel = "HOST:PORT", required = true,
            description = "The address of `modeldisk bench baseline` on the machine of the shard.")
        private String baseline;
    }

    @Override
    public Integer call() throws IOException {
        ThroughputPlan throughput = measures.contains(Measure.THROUGHPUT)
            ? new ThroughputPlan(directions, requestBytes(), queueDepths, gradientBytes(),
                positive("--pairs", pairs), runMs())
            : null;
        LatencyPlan latency = measures.contains(Measure.LATENCY)
            ? new LatencyPlan(latencyBytes(), positive("--pairs", pairs), Math.max(1, runMs() / pairs))
            : null;
        output.check();
        ProtocolBench.Context context = new ProtocolBench.Context().modeldisk(System.getProperty("modeldisk.command"))
            .datamovers(datamovers.stream().map(BenchProtocolCommand::datamover).toList())
            .modelBytes(modelSize.bytes()).aggregators(aggregatorList()).durabilities(durabilities)
            .progress(Progress::show);
        if (running != null) {
            context.running(ModelLocators.current(running.shard), ModelAddress.parsePortal(running.baseline, 0));
        }
        output.write(new ProtocolBench(context).run(throughput, latency));
        return 0;
    }

    private static Route.Preference datamover(String name) {
        Route.Preference datamover = Route.Preference.named(name);
        if (datamover != Route.Preference.TCP && datamover != Route.Preference.SHM) {
            throw new IllegalArgumentException("--datamover " + name + " must be tcp or shm");
        }
        return datamover;
    }

    private static int positive(String option, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(option + " " + value + " must be at least 1");
        }
        return value;
    }

    /** Returns the specifications of the aggregators in {@code --aggregators}. */
    List<String> aggregatorList() {
        return List.of(aggregators.split(NEXT_NAME));
    }

    /** Returns the request sizes for latency. Checks that each size is from 1 byte to 8 MiB. */
    List<Integer> latencyBytes() {
        List<Integer> checked = new ArrayList<>();
        for (ByteSize size : latencySizes) {
            if (size.bytes() < 1 || size.bytes() > Math.min(LARGEST_REQUEST_BYTES, modelSize.bytes())) {
                throw new IllegalArgumentException("--latency-sizes " + size.bytes()
                    + " must be from 1 byte to 8 MiB and at most the size of the model");
            }
            checked.add((int) size.bytes());
        }
        return checked;
    }

    /** Returns the request sizes for throughput. Checks that each size is a multiple of 4 KiB up to 8 MiB. */
    List<Integer> requestBytes() {
        List<Integer> checked = new ArrayList<>();
        for (ByteSize size : sizes) {
            long bytes = size.bytes();
            if (bytes < LogicalBlock.BYTES || bytes > LARGEST_REQUEST_BYTES
                || bytes % LogicalBlock.BYTES != 0 || bytes > modelSize.bytes()) {
                throw new IllegalArgumentException("--sizes " + bytes
                    + " must be a positive multiple of 4096 up to 8 MiB and at most the size of the model");
            }
            checked.add((int) bytes);
        }
        return checked;
    }

    /**
     * Returns the size of the gradient. Checks that the gradient fits into one slab, so that no request crosses a slab boundary.
     */
    long gradientBytes() {
        if (gradientSize.bytes() > DataMemory.SLAB_BYTES) {
            throw new IllegalArgumentException("--gradient-size " + gradientSize.bytes() + " must be at most 1 GiB");
        }
        return gradientSize.bytes();
    }

    private long runMs() {
        DurationRange.check("--duration", duration, Duration.ofMillis(10), Duration.ofHours(1));
        return duration.toMillis();
    }
}
