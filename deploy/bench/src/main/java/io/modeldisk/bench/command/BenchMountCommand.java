package io.modeldisk.bench.command;

import io.modeldisk.bench.mount.MountBench;
import io.modeldisk.bench.mount.MountPlan;
import io.modeldisk.mount.fuse.FuseBinding;
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

/** The command {@code modeldisk bench mount}. */
@Command(name = "mount", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Measures with fio reads and writes of a mount with --exchange direct, in turn with a file of the same binding that "
            + "moves no data, and with the protocol without a mount. Also measures the time of a learner for its weights "
            + "and its gradient with each exchange scheme, with read and write, and with mapped buffers.",
        "For fio, the shard drops pushed gradients. The shard and each mount of fio run in their own processes."},
    footer = {"", "Examples:", "  modeldisk bench mount",
        "  modeldisk bench mount --measures requests --request-size 256k --queue-depth 8 --rounds 5 --duration 2s"})
final class BenchMountCommand implements Callable<Integer> {
    private static final String REQUESTS = "requests";
    private static final String LEARNER = "learner";
    private static final long LARGEST_REQUEST_BYTES = 4 << 20;
    private static final long LEAST_MODEL_BYTES = 64 << 20;
    private static final long MOST_MODEL_BYTES = 16L << 30;
    private static final int MOST_ROUNDS = 1000;
    private static final int LARGEST_QUEUE_DEPTH = 32;
    private static final Duration LONGEST_RUN = Duration.ofMinutes(1);

    @Option(names = "--measures", paramLabel = "WHAT", split = ",", defaultValue = "requests,learner",
        description = "One or both of requests and learner. requests: reads and writes with fio. learner: the time of a "
            + "learner through mounts with the first binding. The learner sleeps for 200 ms after it has read the weights.")
    private List<String> measures;

    @Option(names = "--binding", paramLabel = "NAME", split = ",", defaultValue = "kernel,jnr",
        description = "One or more of kernel and jnr. The report gives the reason if a binding is unavailable.")
    private List<String> bindings;

    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "shm,tcp",
        description = "One or more of shm, tcp and iser. The report gives the reason if a datamover is unavailable.")
    private List<String> datamovers;

    @Option(names = "--request-size", paramLabel = "BYTES", split = ",", defaultValue = "4k,64k,256k,1m,4m",
        description = "The sizes of reads and writes: multiples of 4 KiB up to 4 MiB.")
    private List<ByteSize> requestSizes;

    @Option(names = "--queue-depth", paramLabel = "N", split = ",", defaultValue = "1,8",
        description = "The numbers of requests in flight, from 1 to 32. 1: a thread calls pread or pwrite. More: asynchronous "
            + "requests (libaio).")
    private List<Integer> queueDepths;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3",
        description = "The number of measurements of each variant. The measurements alternate.")
    private int rounds;

    @Option(names = "--duration", paramLabel = "TIME", defaultValue = "1s",
        description = "The duration of a measurement.")
    private Duration duration;

    @Option(names = "--warm-up", paramLabel = "TIME", defaultValue = "12s",
        description = "The longest warm-up of each mount. The warm-up ends earlier if the requests become no faster.")
    private Duration warmUp;

    @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "512MiB",
        description = "The size of the model: 64 MiB to 16 GiB.")
    private ByteSize modelSize;

    @Mixin
    private ReportOptions.WithPlot output;

    @Override
    public Integer call() throws IOException {
        MountPlan plan = plan();
        output.check();
        output.write(new MountBench(System.getProperty("modeldisk.command"), plan, Progress::show).run());
        return 0;
    }

    /** Returns the plan that the options describe. Throws an {@code IllegalArgumentException} if a value is out of range. */
    MountPlan plan() {
        for (String measure : measures) {
            if (!List.of(REQUESTS, LEARNER).contains(measure)) {
                throw new IllegalArgumentException("--measures " + measure + " must be requests or learner");
            }
        }
        bindings.forEach(FuseBinding::named);
        for (ByteSize size : requestSizes) {
            check("--request-size", size.bytes(), LogicalBlock.BYTES, LARGEST_REQUEST_BYTES);
            if (size.bytes() % LogicalBlock.BYTES != 0) {
                throw new IllegalArgumentException("--request-size " + size.bytes() + " must be a multiple of 4096");
            }
        }
        queueDepths.forEach(depth -> check("--queue-depth", depth, 1, LARGEST_QUEUE_DEPTH));
        check("--rounds", rounds, 1, MOST_ROUNDS);
        check("--model-size", modelSize.bytes(), LEAST_MODEL_BYTES, MOST_MODEL_BYTES);
        DurationRange.check("--duration", duration, Duration.ofMillis(100), LONGEST_RUN);
        DurationRange.check("--warm-up", warmUp, Duration.ZERO, LONGEST_RUN);
        return new MountPlan(measures.contains(REQUESTS), measures.contains(LEARNER),
            bindings.stream().distinct().toList(),
            datamovers.stream().distinct().map(Route.Preference::named).toList(),
            requestSizes.stream().map(size -> (int) size.bytes()).distinct().toList(),
            queueDepths.stream().distinct().toList(), rounds, duration.toMillis(), warmUp.toMillis(),
            modelSize.bytes());
    }

    private static void check(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(option + " " + value + " must be from " + least + " to " + most);
        }
    }
}
