package io.modeldisk.bench.command;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.bench.aggregator.AggregatorBench;
import io.modeldisk.platform.units.ByteSize;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench aggregator}. */
@Command(name = "aggregator", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = "Measures the throughput of an aggregator on one core. For comparison, also measures two functions "
        + "of a C program (gcc -O3 -march=native -fno-math-errno): the same optimizer as a loop, or sgd, and memcpy. The"
        + " three measurements alternate.")
final class BenchAggregatorCommand implements Callable<Integer> {
    private static final long LARGEST_BYTES = 1L << 34;

    @Option(names = "--aggregator", paramLabel = "NAME[:OPTIONS]", defaultValue = "sgd:lr=0.001",
        description = "The aggregator to measure.")
    private String specification;

    @Option(names = "--size", paramLabel = "BYTES", defaultValue = "512MiB",
        description = "The size of the weights and of the gradient: a multiple of the block size.")
    private ByteSize size;

    @Option(names = "--block-size", paramLabel = "BYTES", defaultValue = "256KiB",
        description = "The size of a block, which is aggregated in one call: a power of two from 4 KiB to 1 MiB.")
    private ByteSize blockSize;

    @Option(names = "--pairs", paramLabel = "N", defaultValue = "11",
        description = "The number of measurements of each: the aggregator, the loop in C, and memcpy.")
    private int pairs;

    @Mixin
    private ReportOptions output;

    @Override
    public Integer call() throws IOException {
        long block = blockSize.bytes();
        if (Long.bitCount(block) != 1 || block < 4096 || block > 1 << 20) {
            throw new IllegalArgumentException("--block-size " + block + " must be a power of two from 4 KiB to 1 MiB");
        }
        if (size.bytes() < block || size.bytes() > LARGEST_BYTES || size.bytes() % block != 0) {
            throw new IllegalArgumentException("--size " + size.bytes() + " must be a positive multiple of " + block
                + " and at most 16 GiB");
        }
        if (pairs < 1) {
            throw new IllegalArgumentException("--pairs " + pairs + " must be at least 1");
        }
        try (Aggregator aggregator = Aggregators.parse(specification)) {
            output.write(AggregatorBench.run(specification, aggregator, size.bytes(), (int) block, pairs));
        }
        return 0;
    }
}
