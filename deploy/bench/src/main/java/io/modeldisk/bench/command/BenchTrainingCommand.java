package io.modeldisk.bench.command;

import io.modeldisk.bench.report.TrainingReport;
import io.modeldisk.bench.training.Computation;
import io.modeldisk.bench.training.KnownModel;
import io.modeldisk.bench.training.TrainingBench;
import io.modeldisk.bench.training.TrainingPlan;
import io.modeldisk.bench.training.Variant;
import io.modeldisk.command.Plural;
import io.modeldisk.command.Converters;
import io.modeldisk.platform.units.ByteSize;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code modeldisk bench training}: the learner emulator. */
@Command(name = "training", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Measures the duration of an iteration with each exchange scheme. Emulated learners pull and push a model of a known "
            + "size, and wait for its computation time. It starts the shards on loopback, each in a process of its own.",
        "Models, with sizes in 10^6 bytes and computation times of Xue et al. 2018, table 1: AlexNet (176.42, 7.61 ms), "
            + "Inception-v3 (92.90, 68.32), VGGNet-16 (512.32, 30.92), LSTM (35.93, 33.33), GRU (27.92, 30.44), FCN-5 (204.47, "
            + "4.88); ResNet-50 (102.21) and LeNet-5 (1.72) need --compute-ms."},
    footer = {"", "Examples:", "  modeldisk bench training --model LSTM --learners 2",
        "  modeldisk bench training --model GRU --compute-ms 10 --link 250MB \\",
        "      --exchange direct,overlap,overlap:after-push"})
final class BenchTrainingCommand implements Callable<Integer> {
    @Option(names = "--model", paramLabel = "NAME", defaultValue = "LSTM", description = "One of the models above.")
    private String model;

    @Option(names = "--size", paramLabel = "BYTES",
        description = "The size of the model, instead of that of the named model.")
    private ByteSize size;

    @Option(names = "--compute-ms", paramLabel = "TIME", converter = Converters.Milliseconds.class,
        description = "The computation time of an iteration, as 10ms; a number alone is in milliseconds. Default: that of "
            + "the model.")
    private Duration computeTime;

    @Option(names = "--compute", paramLabel = "sleep|spin", defaultValue = "sleep",
        description = "sleep: leave the processor to others, as with an accelerator. spin: keep one processor busy.")
    private Computation computation;

    @Option(names = "--learners", paramLabel = "N", defaultValue = "2", description = "The number of learners.")
    private int learners;

    @Option(names = "--shards", paramLabel = "N", defaultValue = "2", description = "The number of shards.")
    private int shards;

    @Option(names = "--exchange", paramLabel = "SCHEME[:PULL]", split = ",",
        defaultValue = "direct,sync,overlap:after-push,overlap:adaptive,overlap:beside-push",
        description = "The exchange schemes to measure, in turn.")
    private List<String> exchanges;

    @Option(names = "--through", paramLabel = "mount|initiator", defaultValue = "initiator",
        description = "initiator: the learner computes in the buffers of the exchange, with no copy. mount: it reads and "
            + "writes the file of a mount, and has memory of its own.")
    private Through through;

    @Option(names = "--iterations", paramLabel = "N", defaultValue = "60",
        description = "The number of measured iterations.")
    private int iterations;

    @Option(names = "--warm-up", paramLabel = "N", defaultValue = "20",
        description = "The number of iterations before them.")
    private int warmUp;

    @Option(names = "--consistency", paramLabel = "MODE", defaultValue = "asp",
        description = "The shards' mode: asp, ssp:S or bsp.")
    private String consistency;

    @Option(names = "--aggregator", paramLabel = "NAME[:OPTIONS]", defaultValue = "sgd:lr=0.1",
        description = "The aggregator of the shards.")
    private String aggregator;

    @Option(names = "--link", paramLabel = "BYTES",
        description = "Emulate a full-duplex network link for each learner, with this many bytes a second in each direction, "
            + "as 125MB.")
    private ByteSize link;

    @Mixin
    private ReportOptions.WithPlot output;

    @Option(names = "--traces", paramLabel = "DIR",
        description = "Write the trace of each learner to this directory, for `modeldisk trace timeline`.")
    private Path traces;

    /** How learners get at the model. */
    enum Through {
        /** By the file of a mount. */
        MOUNT,
        /** By the initiator. */
        INITIATOR
    }

    @Override
    public Integer call() throws IOException {
        output.check();
        TrainingPlan plan = plan();
        output.write(new TrainingReport(title(plan), setting(plan), plan.model(), plan.modelBytes(),
            new TrainingBench(plan, System.getProperty("modeldisk.command"), System.err::println).run()));
        return 0;
    }

    private TrainingPlan plan() {
        KnownModel known = size == null ? KnownModel.named(model) : null;
        if (computeTime == null && (known == null || known.computeMs().isEmpty())) {
            throw new IllegalArgumentException("--compute-ms is needed: how long " + (known == null
                ? "a model of a size of your own"
                : known.name()) + " computes is not known");
        }
        return new TrainingPlan(known == null ? "custom" : known.name(),
            known == null ? size.bytes() : known.bytes(),
            computeTime == null ? known.computeMs().getAsDouble() : computeTime.toNanos() / 1e6, computation, learners,
            shards,
            exchanges.stream().map(Variant::parse).toList(), iterations, warmUp, through == Through.MOUNT, consistency,
            aggregator, link == null ? 0 : link.bytes(), traces);
    }

    private static String title(TrainingPlan plan) {
        return "%s, %.2f MB, computes %.2f ms".formatted(plan.model(), plan.modelBytes() / 1e6, plan.computeMs());
    }

    private String setting(TrainingPlan plan) {
        return "%s, %s, %s, %s, through the %s%s".formatted(Plural.counted(learners, "learner"),
            Plural.counted(shards, "shard"), consistency, plan.aggregator(),
            plan.throughMount() ? "mount" : "initiator",
            link == null ? "" : ", links of %.0f MB/s each way".formatted(plan.linkBytesPerSecond() / 1e6));
    }
}
