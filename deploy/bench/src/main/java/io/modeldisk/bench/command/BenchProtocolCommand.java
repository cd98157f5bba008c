package io.modeldisk.bench.command;

import io.modeldisk.command.ExitStatus;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.protocol.ProtocolBench;
import io.modeldisk.bench.protocol.ProtocolPlan;
import io.modeldisk.bench.protocol.ProtocolPlan.Measure;
import io.modeldisk.bench.shard.Datamovers;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.command.address.ModelLocators;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.protocol.login.TargetAddress;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench protocol}. */
@Command(name = "protocol", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:All measurements are complete.",
        "1:A measurement has failed, for example because a program that it needs is not installed.",
        ExitStatus.WRONG},
    description = {
        "Measures the protocol without a mount, in turn with baselines that move the same data.",
        "throughput: the bytes of one session with many requests in flight. latency: the time of one request at a time. "
            + "fan-in: many clients of one server. mesh: nodes that are servers and clients of each other. sessions: many "
            + "sessions on one shard, without and with sessions that read nothing. latency, fan-in and mesh are the "
            + "micro-benchmarks of AR-gRPC (Biswas et al. 2018).",
        "The baselines: blocking sockets with the options of the session's sockets (throughput, latency), which also apply "
            + "sgd if the shard does; gRPC-Java without protobuf (latency, fan-in, mesh); with shm, one thread that copies or "
            + "aggregates in memory.",
        "Without --running, the command starts shards, nodes and servers on this machine, each in its own process. The "
            + "sessions push zeros."},
    footer = {"", "Examples:", "  modeldisk bench protocol",
        "  modeldisk bench protocol --sizes 256k --aggregators null,sgd:lr=0.1 --datamover tcp,shm",
        "  modeldisk bench protocol --measures latency,fan-in,mesh --out micro.json,micro.png"})
final class BenchProtocolCommand implements Callable<Integer> {
    /** Matches a comma before the name of an aggregator, but not a comma between the options of an aggregator. */
    private static final String NEXT_NAME = ",(?=[a-z0-9-]+(?::|,|$))";

    @Option(names = "--measures", paramLabel = "WHAT", split = ",", defaultValue = "throughput,latency",
        description = "One or more of ${COMPLETION-CANDIDATES}.")
    private List<Measure> measures;

    @Option(names = "--sizes", paramLabel = "BYTES", split = ",", showDefaultValue = Visibility.NEVER,
        description = "The sizes of requests: multiples of 4 KiB up to 8 MiB, and for latency alone from 1 byte. Default: "
            + "4k,32k,256k,1m,4m for throughput, 2,64,512,4k,32k,256k,1m,8m for latency, 4k for fan-in, 2m,4m,8m for mesh, "
            + "256k for sessions.")
    private List<ByteSize> sizes = List.of();

    @Option(names = "--clients", paramLabel = "N", split = ",", showDefaultValue = Visibility.NEVER,
        description = "The numbers of clients, nodes or sessions. Default: 4,8,16,32,64 clients for fan-in, 4 nodes for mesh, "
            + "256 sessions. For every eight sessions, one more session reads nothing.")
    private List<Integer> clients = List.of();

    @Option(names = "--queue-depths", paramLabel = "N", split = ",", defaultValue = "32",
        description = "For throughput: the numbers of requests in flight in each direction. A mount has 32 for each shard.")
    private List<Integer> queueDepths;

    @Option(names = "--gradient-size", paramLabel = "BYTES", defaultValue = "0",
        description = "The size of the gradient for throughput, up to 1 GiB. Pushes send its parts one after another. It has at "
            + "least one part for each request in flight.")
    private ByteSize gradientSize;

    @Option(names = "--directions", paramLabel = "DIRECTION", split = ",", defaultValue = "push,pull,both",
        description = "The directions for throughput: one or more of ${COMPLETION-CANDIDATES}.")
    private List<Direction> directions;

    @Option(names = "--aggregators", paramLabel = "NAME[:OPTIONS]", defaultValue = "null,sgd:lr=0.1",
        description = "The aggregators of the shard, measured one after another for throughput. The first one is used for the "
            + "other measures. The aggregator null drops pushes.")
    private String aggregators;

    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "tcp",
        description = "One or more of tcp, shm and iser, measured in turn. The report gives the reason if one is unavailable.")
    private List<String> datamovers;

    @Option(names = "--durability", paramLabel = "MODE", split = ",", defaultValue = "memory",
        description = "One or more of ${COMPLETION-CANDIDATES}, measured one after another with each aggregator. With replica, "
            + "the shard has one backup on this machine.")
    private List<Durability> durabilities;

    @Option(names = "--duration", paramLabel = "TIME",
        description = "The approximate duration of a measurement; for latency, of all measurements of one size together. The "
            + "warm-up of the measures with gRPC takes 32 times as long, at most 10 s. Default: 250ms, and 30s for sessions.")
    private Duration duration;

    @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "256MiB",
        description = "The size of the model, which should exceed the processor's caches. For mesh, the model of each node has "
            + "at most 64 MiB.")
    private ByteSize modelSize;

    @Option(names = "--running", paramLabel = "modeldisk[+zk]://HOST:PORT/NAME",
        description = "The address of a shard that is already running. If its aggregator is assign, its weights are lost.")
    private String running;

    @Option(names = "--baseline", paramLabel = "HOST:PORT",
        description = "With --running: the address of `modeldisk bench baseline` on the machine of the shard.")
    private String baseline;

    @Mixin
    private ReportOptions output;

    @Override
    public Integer call() throws IOException {
        output.write(new ProtocolBench(plan()).run());
        return 0;
    }

    /** Returns the plan that the options describe. Throws an {@code IllegalArgumentException} if a value is out of range. */
    ProtocolPlan plan() throws IOException {
        if (duration != null && (duration.toMillis() < 10 || duration.compareTo(Duration.ofHours(1)) > 0)) {
            throw new IllegalArgumentException(
                "--duration " + DurationText.format(duration) + " must be from 10ms to 1h");
        }
        return new ProtocolPlan(EnumSet.copyOf(measures),
            sizes.stream().map(size -> (int) Math.min(size.bytes(), Integer.MAX_VALUE)).toList(), clients, queueDepths,
            gradientSize.bytes(), directions, List.of(aggregators.split(NEXT_NAME)), Datamovers.named(datamovers),
            durabilities, output.check(), duration, modelSize.bytes(),
            running == null ? null : ModelLocators.current(running),
            baseline == null ? null : TargetAddress.parse(baseline, 0));
    }
}
