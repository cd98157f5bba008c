package io.modeldisk.bench.command;

import io.modeldisk.bench.grpc.GrpcServer;
import io.modeldisk.bench.micro.MicroBench;
import io.modeldisk.bench.micro.MicroPlan;
import io.modeldisk.bench.protocol.LatencyPlan;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench micro}. */
@Command(name = "micro", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Runs the three micro-benchmarks of AR-gRPC (Biswas et al. 2018), in alternation over each datamover and "
            + "over plain gRPC: point-to-point latency, one server with many clients, and fully connected nodes.",
        "Each server and each node runs in its own process. Servers drop pushed gradients. Clients check pulled "
            + "weights."},
    footer = {"", "Examples:", "  modeldisk bench micro",
        "  modeldisk bench micro --measures fan-in --clients 4,64 \\",
        "      --plot fan-in.svg,fan-in.png"})
final class BenchMicroCommand implements Callable<Integer> {
    private static final long LARGEST_REQUEST_BYTES = 8 << 20;
    private static final long LEAST_MODEL_BYTES = 1 << 20;
    private static final int MOST_CLIENTS = 64;
    private static final int MOST_NODES = 16;
    private static final int MOST_ROUNDS = 1000;
    private static final Duration LONGEST_RUN = Duration.ofSeconds(20);

    @Option(names = "--measures", paramLabel = "WHAT", split = ",", defaultValue = "latency,fan-in,mesh",
        description = "One or more of latency, fan-in and mesh.")
    private List<String> measures;

    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "tcp,shm,iser",
        description = "One or more of tcp, shm and iser. The report gives the reason if a datamover is unavailable.")
    private List<String> datamovers;

    @Option(names = "--latency-sizes", paramLabel = "BYTES", split = ",",
        defaultValue = "2,64,512,4k,32k,256k,1m,8m",
        description = "The request sizes of the latency benchmark, up to 8 MiB. Below 4 KiB, a push moves a whole "
            + "logical block, and a pull reads a logical block but moves only the requested part. gRPC moves only the "
            + "requested bytes.")
    private List<ByteSize> latencySizes;

    @Option(names = "--clients", paramLabel = "N", split = ",", defaultValue = "4,8,16,32,64",
        description = "The numbers of clients of the fan-in benchmark. Each client sends one request at a time over "
            + "one connection.")
    private List<Integer> clients;

    @Option(names = "--request-size", paramLabel = "BYTES", defaultValue = "4k",
        description = "The request size of the fan-in benchmark: a multiple of 4 KiB up to 8 MiB.")
    private ByteSize requestSize;

    @Option(names = "--nodes", paramLabel = "N", defaultValue = "4",
        description = "The number of nodes of the mesh benchmark. Each node sends one request at a time to every "
            + "other node.")
    private int nodes;

    @Option(names = "--mesh-sizes", paramLabel = "BYTES", split = ",", defaultValue = "2m,4m,8m",
        description = "The request sizes of the mesh benchmark: multiples of 4 KiB up to 8 MiB.")
    private List<ByteSize> meshSizes;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3",
        description = "The number of measurements of each datamover and of gRPC. The measurements alternate.")
    private int rounds;

    @Option(names = "--duration", paramLabel = "TIME", defaultValue = "250ms",
        description = "The approximate duration of one throughput measurement, or of all latency measurements of one "
            + "request size together.")
    private Duration duration;

    @Option(names = "--warm-up", paramLabel = "TIME", defaultValue = "8s",
        description = "The duration of the warm-up before the measurement, for each datamover and for gRPC.")
    private Duration warmUp;

    @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "64MiB",
        description = "The size of the weights of each server: 1 to 256 MiB.")
    private ByteSize modelSize;

    @Mixin
    private ReportOptions.WithPlot output;

    @Override
    public Integer call() throws IOException {
        MicroPlan plan = plan();
        output.check();
        output.write(new MicroBench(System.getProperty("modeldisk.command"), plan, Progress::show).run());
        return 0;
    }

    /** Returns the plan that the options describe. Throws an {@code IllegalArgumentException} if a value is out of range. */
    MicroPlan plan() {
        for (String measure : measures) {
            if (!List.of("latency", "fan-in", "mesh").contains(measure)) {
                throw new IllegalArgumentException("--measures " + measure + " must be latency, fan-in or mesh");
            }
        }
        check("--model-size", modelSize.bytes(), LEAST_MODEL_BYTES, GrpcServer.MAX_MODEL_BYTES);
        checkBlocks("--model-size", modelSize.bytes());
        check("--rounds", rounds, 1, MOST_ROUNDS);
        check("--nodes", nodes, 2, MOST_NODES);
        clients.forEach(count -> check("--clients", count, 1, MOST_CLIENTS));
        DurationRange.check("--duration", duration, Duration.ofMillis(10), LONGEST_RUN);
        DurationRange.check("--warm-up", warmUp, Duration.ZERO, LONGEST_RUN);
        long millis = duration.toMillis();
        return new MicroPlan(datamovers.stream().distinct().map(Route.Preference::named).toList(),
            measures.contains("latency")
                ? new LatencyPlan(bytes("--latency-sizes", latencySizes, 1), rounds, Math.max(1, millis / rounds))
                : null,
            measures.contains("fan-in")
                ? new MicroPlan.FanIn(clients, bytes("--request-size", List.of(requestSize), 4096).getFirst())
                : null,
            measures.contains("mesh")
                ? new MicroPlan.Mesh(nodes, bytes("--mesh-sizes", meshSizes, 4096))
                : null,
            rounds, millis, warmUp.toMillis(), modelSize.bytes());
    }

    private List<Integer> bytes(String option, List<ByteSize> sizes, long least) {
        for (ByteSize size : sizes) {
            check(option, size.bytes(), least, Math.min(LARGEST_REQUEST_BYTES, modelSize.bytes()));
            if (least > 1) {
                checkBlocks(option, size.bytes());
            }
        }
        return sizes.stream().map(size -> (int) size.bytes()).toList();
    }

    private static void checkBlocks(String option, long bytes) {
        if (bytes % LogicalBlock.BYTES != 0) {
            throw new IllegalArgumentException(option + " " + bytes + " must be a multiple of 4096");
        }
    }

    private static void check(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(option + " " + value + " must be from " + least + " to " + most);
        }
    }
}
