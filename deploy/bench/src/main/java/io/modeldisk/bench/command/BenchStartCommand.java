package io.modeldisk.bench.command;

import io.modeldisk.bench.start.CommandStarts;
import io.modeldisk.bench.start.StartBench;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.units.ByteSize;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.function.IntConsumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench start}. */
@Command(name = "start", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Measures the time until a shard is ready, from the start of its process. For comparison, also measures "
            + "a memset of as much fresh memory in a C program with one thread. The two measurements alternate.",
        "The command starts the shard on loopback, in a separate process.",
        "With --commands, measures the starts of the commands instead: `modeldisk --help`, a shard of 4 MiB and a mount until "
            + "they are ready, and `java --version`, in turn."})
final class BenchStartCommand implements Callable<Integer> {
    @Option(names = "--size", paramLabel = "BYTES", defaultValue = "8GiB",
        description = "The size of the shard and of the memory: a multiple of 4.")
    private ByteSize size;

    @Option(names = "--consistency", paramLabel = "MODE", defaultValue = "asp",
        description = "The consistency mode of the shard. With bsp, the shard needs twice the memory, for sums of gradients.")
    private String consistency;

    @Option(names = "--pairs", paramLabel = "N", defaultValue = "5",
        description = "The number of measurements of each.")
    private int pairs;

    @Option(names = "--commands",
        description = "Measure the starts of the commands. --size and --consistency have no effect.")
    private boolean commands;

    @Mixin
    private ReportOptions output;

    @Override
    public Integer call() throws IOException {
        output.check();
        if (pairs < 1) {
            throw new IllegalArgumentException("--pairs " + pairs + " must be at least 1");
        }
        String modeldisk = System.getProperty("modeldisk.command");
        IntConsumer progress = turn -> Progress.show("turn " + turn + " of " + pairs);
        if (commands) {
            output.write(CommandStarts.run(modeldisk, pairs, progress));
            return 0;
        }
        MemoryLimit limit = MemoryLimit.ofThisProcess();
        if (!limit.allows(size.bytes())) {
            throw new IllegalArgumentException("--size " + size.bytes() + " is more than the memory of this machine: "
                + limit.describe());
        }
        output.write(StartBench.run(modeldisk, size.bytes(), consistency, pairs, progress));
        return 0;
    }
}
