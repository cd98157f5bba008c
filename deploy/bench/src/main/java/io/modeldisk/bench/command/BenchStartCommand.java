package io.modeldisk.bench.command;

import io.modeldisk.bench.start.StartBench;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.units.ByteSize;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench start}. */
@Command(name = "start", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Measures the time until a shard is ready, from the start of its process. For comparison, also measures "
            + "a memset of as much fresh memory in a C program with one thread. The two measurements alternate.",
        "The command starts the shard on loopback, in a separate process."})
final class BenchStartCommand implements Callable<Integer> {
    @Option(names = "--size", paramLabel = "BYTES", defaultValue = "8GiB",
        description = "The size of the shard and of the memory: a multiple of 4.")
    private ByteSize size;

    @Option(names = "--consistency", paramLabel = "MODE", defaultValue = "asp",
        description = "The consistency mode of the shard. With bsp, the shard needs twice the memory, for sums of gradients.")
    private String consistency;

    @Option(names = "--pairs", paramLabel = "N", defaultValue = "5",
        description = "The number of measurements of each: the shard and the memset.")
    private int pairs;

    @Mixin
    private ReportOptions output;

    @Override
    public Integer call() throws IOException {
        if (pairs < 1) {
            throw new IllegalArgumentException("--pairs " + pairs + " must be at least 1");
        }
        MemoryLimit limit = MemoryLimit.ofThisProcess();
        if (!limit.allows(size.bytes())) {
            throw new IllegalArgumentException("--size " + size.bytes() + " is more than the memory of this machine: "
                + limit.describe());
        }
        output.write(StartBench.run(System.getProperty("modeldisk.command"), size.bytes(), consistency, pairs,
            turn -> Progress.show("turn " + turn + " of " + pairs)));
        return 0;
    }
}
