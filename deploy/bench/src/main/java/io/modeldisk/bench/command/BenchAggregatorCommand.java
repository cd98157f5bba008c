package io.modeldisk.bench.command;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.bench.aggregator.AggregatorBench;
import io.modeldisk.bench.aggregator.GpuBench;
import io.modeldisk.platform.units.ByteSize;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench aggregator}. */
@Command(name = "aggregator", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {"Measures the throughput of an aggregator on one core. For comparison, also measures two functions "
        + "of a C program (gcc -O3 -march=native -fno-math-errno): the same optimizer as a loop, or sgd, and memcpy. The"
        + " three measurements alternate.",
        "With --device, measures the aggregator on a GPU instead: batches of 1 to 256 blocks in device memory, in turn "
            + "with the device's own copy function, and pushes through pinned host memory, in turn with copies alone."})
final class BenchAggregatorCommand implements Callable<Integer> {
    private static final long LARGEST_BYTES = 1L << 34;
    private static final int CPU_BLOCK_BYTES = 256 << 10;
    private static final List<Integer> DEVICE_BLOCK_BYTES = List.of(4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20);

    @Option(names = "--aggregator", paramLabel = "NAME[:OPTIONS]", defaultValue = "sgd:lr=0.001",
        description = "The aggregator to measure.")
    private String specification;

    @Option(names = "--device", paramLabel = "cuda:N",
        description = "The GPU on which the aggregator is measured. By default, the aggregator is measured on one core.")
    private String device;

    @Option(names = "--size", paramLabel = "BYTES", defaultValue = "512MiB",
        description = "The size of the weights and of the gradient: a multiple of the block size.")
    private ByteSize size;

    @Option(names = "--block-size", paramLabel = "BYTES",
        description = "The size of a block, which is aggregated in one call: a power of two from 4 KiB to 1 MiB. By default, "
            + "256 KiB, and with --device each of 4, 16, 64 and 256 KiB and 1 MiB.")
    private ByteSize blockSize;

    @Option(names = "--pairs", paramLabel = "N", defaultValue = "11",
        description = "The number of measurements of each: the aggregator, the loop in C, and memcpy.")
    private int pairs;

    @Option(names = "--smoke", hidden = true,
        description = "Makes each measurement on a device as short as possible, for tests. The figures have no meaning.")
    private boolean smoke;

    @Mixin
    private ReportOptions output;

    @Override
    public Integer call() throws IOException {
        output.check();
        List<Integer> blocks = blockSizes();
        int largest = blocks.getLast();
        if (size.bytes() < largest || size.bytes() > LARGEST_BYTES || size.bytes() % largest != 0) {
            throw new IllegalArgumentException("--size " + size.bytes() + " must be a positive multiple of " + largest
                + " and at most 16 GiB");
        }
        if (pairs < 1) {
            throw new IllegalArgumentException("--pairs " + pairs + " must be at least 1");
        }
        try (Aggregator aggregator = Aggregators.parse(specification)) {
            output.write(device == null
                ? AggregatorBench.run(specification, aggregator, size.bytes(), largest, pairs)
                : GpuBench.run(device, specification, aggregator, size.bytes(), blocks, pairs, smoke, Progress::show));
        }
        return 0;
    }

    private List<Integer> blockSizes() {
        if (blockSize == null) {
            return device == null ? List.of(CPU_BLOCK_BYTES) : DEVICE_BLOCK_BYTES;
        }
        long block = blockSize.bytes();
        if (Long.bitCount(block) != 1 || block < 4096 || block > 1 << 20) {
            throw new IllegalArgumentException("--block-size " + block + " must be a power of two from 4 KiB to 1 MiB");
        }
        return List.of((int) block);
    }
}
