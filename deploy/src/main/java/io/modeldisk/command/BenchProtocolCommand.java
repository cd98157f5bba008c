package io.modeldisk.command;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.bench.protocol.ProtocolBench;
import io.modeldisk.bench.protocol.ThroughputPlan;
import io.modeldisk.bench.report.TextReport;
import io.modeldisk.bench.report.ThroughputResult;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code modeldisk bench protocol}. */
@Command(name = "protocol", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Measures what one session moves in a second, beside the floor: plain blocking sockets that move the same data from "
            + "and to the same memory, without a protocol. The two run in turn; shown are the medians, and the median, least "
            + "and greatest of the ratios.",
        "It starts a shard and the floor's other end on loopback, each a process of its own."},
    footer = {"", "Examples:", "  modeldisk bench protocol",
        "  modeldisk bench protocol --sizes 256k --aggregators null,sgd:lr=0.1 --duration 2"})
final class BenchProtocolCommand implements Callable<Integer> {
    /** A comma after which a name stands, and no option of the name before. */
    private static final String NEXT_NAME = ",(?=[a-z0-9-]+(?::|,|$))";

    private static final long LARGEST_REQUEST_BYTES = 8 << 20;

    @Option(names = "--sizes", paramLabel = "BYTES", split = ",", defaultValue = "4k,32k,256k,1m,4m",
        description = "The sizes of requests: multiples of 4 KiB up to 8 MiB.")
    private List<ByteCount> sizes;

    @Option(names = "--queue-depths", paramLabel = "N", split = ",", defaultValue = "8",
        description = "How many requests are under way, each way.")
    private List<Integer> queueDepths;

    @Option(names = "--directions", paramLabel = "DIRECTION", split = ",", defaultValue = "push,pull,both",
        description = "Some of ${COMPLETION-CANDIDATES}.")
    private List<Direction> directions;

    @Option(names = "--aggregators", paramLabel = "NAME[:OPTIONS]", defaultValue = "null,sgd:lr=0.1",
        description = "What the shard does with a push; null drops it.")
    private String aggregators;

    @Option(names = "--pairs", paramLabel = "N", defaultValue = "5",
        description = "How often each is measured, in turn with the floor.")
    private int pairs;

    @Option(names = "--duration", paramLabel = "SECONDS", defaultValue = "0.25",
        description = "How long a run takes, about.")
    private double duration;

    @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "256MiB",
        description = "The size of the shard's model: more than the processor's cache holds.")
    private ByteCount modelSize;

    @ArgGroup(exclusive = false, heading = "%nTo measure a shard that is running, with pushes of zeros:%n")
    private Running running;

    /** The two ends on another machine. */
    static final class Running {
        @Option(names = "--running", paramLabel = "modeldisk://HOST:PORT/NAME", required = true,
            description = "The shard.")
        private String shard;

        @Option(names = "--floor", paramLabel = "HOST:PORT", required = true,
            description = "Where `modeldisk bench floor` is running, on the same machine.")
        private String floor;
    }

    @Override
    public Integer call() throws IOException {
        ThroughputPlan plan = new ThroughputPlan(directions, requestBytes(), queueDepths, pairs, runMillis());
        ProtocolBench.Context context = new ProtocolBench.Context().modeldisk(System.getProperty("modeldisk.command"))
            .modelBytes(modelSize.bytes()).aggregators(List.of(aggregators.split(",")))
            .progress(step -> System.err.println(step));
        if (running != null) {
            context.running(ModelAddress.parse(running.shard), ModelAddress.parsePortal(running.floor, 0));
        }
        List<ThroughputResult> results = new ProtocolBench(context).throughput(plan);
        show("");
        System.out.print(TextReport.throughput(results));
        return 0;
    }

    private List<Integer> requestBytes() {
        List<Integer> checked = new ArrayList<>();
        for (ByteCount size : sizes) {
            long bytes = size.bytes();
            if (bytes < Pattern.LOGICAL_BLOCK_BYTES || bytes > LARGEST_REQUEST_BYTES
                || bytes % Pattern.LOGICAL_BLOCK_BYTES != 0 || bytes > modelSize.bytes()) {
                throw new IllegalArgumentException("--sizes " + bytes
                    + " must be a multiple of 4096, at most 8 MiB and no more than the model");
            }
            checked.add((int) bytes);
        }
        return checked;
    }

    private long runMillis() {
        if (duration < 0.01 || duration > 3600) {
            throw new IllegalArgumentException("--duration " + duration + " must be from 0.01 to 3600 seconds");
        }
        return (long) (duration * 1000);
    }

    /** On a terminal a line tells how far it is. */
    private static void show(String step) {
        if (System.console() != null && System.console().isTerminal()) {
            System.err.print("\r\033[K" + step);
        }
    }
}
