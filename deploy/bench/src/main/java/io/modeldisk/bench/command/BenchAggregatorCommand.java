package io.modeldisk.bench.command;

import io.modeldisk.command.ExitStatus;
import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.bench.aggregator.AggregatorBench;
import io.modeldisk.bench.aggregator.GpuBench;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench aggregator}. */
@Command(name = "aggregator", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:All measurements are complete.",
        "1:A measurement has failed, for example because a program that it needs is not installed.",
        ExitStatus.WRONG},
    description = {
        "Measures the throughput of an aggregator on one core, with 512 MiB of weights in blocks of 256 KiB. In turn, measures "
            + "memcpy and a loop in a C program (gcc -O3 -march=native -fno-math-errno). The loop is the same optimizer as the "
            + "aggregator, or sgd if the program has no such loop.",
        "With --device, measures the aggregator on a GPU instead, with blocks of 4 KiB to 1 MiB. Folds in device memory are "
            + "compared with copies within the device. Pushes through pinned host memory are compared with plain copies to "
            + "the device."})
final class BenchAggregatorCommand implements Callable<Integer> {
    private static final long BYTES = 512L << 20;

    @Option(names = "--aggregator", paramLabel = "NAME[:OPTIONS]", defaultValue = "sgd:lr=0.001",
        description = "The aggregator to measure.")
    private String specification;

    @Option(names = "--device", paramLabel = "cuda:N",
        description = "The GPU on which the aggregator is measured. By default, the aggregator is measured on one core.")
    private String device;

    @Mixin
    private ReportOptions output;

    @Override
    public Integer call() throws IOException {
        int rounds = output.check();
        try (Aggregator aggregator = Aggregators.parse(specification)) {
            output.write(device == null
                ? AggregatorBench.run(specification, aggregator, BYTES, rounds)
                : GpuBench.run(device, specification, aggregator, BYTES, rounds));
        }
        return 0;
    }
}
