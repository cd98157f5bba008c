package io.modeldisk.bench.command;

import io.modeldisk.bench.report.TrainingReport;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.bench.training.Computation;
import io.modeldisk.bench.training.KnownModel;
import io.modeldisk.bench.training.Through;
import io.modeldisk.bench.training.TrainingBench;
import io.modeldisk.bench.training.TrainingPlan;
import io.modeldisk.bench.training.Variant;
import io.modeldisk.command.Plural;
import io.modeldisk.command.Converters;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench training}, which emulates learners. */
@Command(name = "training", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    description = {
        "Measures the duration of an iteration with each exchange scheme. Emulated learners pull and push a model of a "
            + "known size, and wait for the computation time of the model. The command starts the shards on loopback, "
            + "each in its own process. With several durabilities or numbers of followers, the table also has the ratio of "
            + "each to memory, or to no followers.",
        "The models have the sizes (1 MB is 10^6 bytes) and computation times of Xue et al. 2018, table 1: AlexNet "
            + "(176.42 MB, 7.61 ms), Inception-v3 (92.90 MB, 68.32 ms), VGGNet-16 (512.32 MB, 30.92 ms), LSTM (35.93 "
            + "MB, 33.33 ms), GRU (27.92 MB, 30.44 ms), FCN-5 (204.47 MB, 4.88 ms). ResNet-50 (102.21 MB) and LeNet-5 "
            + "(1.72 MB) need --compute-ms."},
    footer = {"", "Examples:", "  modeldisk bench training --model LSTM --learners 2",
        "  modeldisk bench training --model GRU --compute-ms 10 --link 250MB \\",
        "      --exchange direct,overlap,overlap:after-push"})
final class BenchTrainingCommand implements Callable<Integer> {
    @Option(names = "--model", paramLabel = "NAME", defaultValue = "LSTM",
        description = "The name of a model that the description of this command lists.")
    private String model;

    @Option(names = "--size", paramLabel = "BYTES",
        description = "The size of a model that the description of this command does not list. Replaces --model and "
            + "needs --compute-ms.")
    private ByteSize size;

    @Option(names = "--compute-ms", paramLabel = "TIME", converter = Converters.Milliseconds.class,
        description = "The computation time of an iteration, such as 10ms. A number without a unit is in milliseconds. "
            + "Default: the computation time of the model.")
    private Duration computeTime;

    @Option(names = "--compute", paramLabel = "sleep|spin", defaultValue = "sleep",
        description = "The emulation of the computation. With sleep, the processor is idle, as if an accelerator "
            + "computed. With spin, one processor is busy.")
    private Computation computation;

    @Option(names = "--learners", paramLabel = "N", defaultValue = "2", description = "The number of learners.")
    private int learners;

    @Option(names = "--shards", paramLabel = "N", defaultValue = "2", description = "The number of shards.")
    private int shards;

    @Option(names = "--exchange", paramLabel = "SCHEME[:PULL]", split = ",",
        defaultValue = "direct,sync,overlap:after-push,overlap:adaptive,overlap:beside-push",
        description = "The exchange schemes, measured one after another: direct, sync or overlap. For overlap, PULL is "
            + "a value of the option --pull of `mount`.")
    private List<String> exchanges;

    @Option(names = "--through", paramLabel = "WAY", split = ",", defaultValue = "initiator",
        description = "One or more of ${COMPLETION-CANDIDATES}: the access to the model. initiator: the learner computes in the "
            + "buffers of the exchange, without a copy. mount: the learner has its own memory, and reads and writes the file of "
            + "a mount. mapped: the learner maps the buffers of a mount, and computes there.")
    private List<Through> throughs;

    @Option(names = "--binding", paramLabel = "NAME", defaultValue = FuseBinding.DEFAULT,
        description = "The FUSE binding of mounts: kernel or jnr.")
    private String binding;

    @Option(names = "--datamover", paramLabel = "NAME", defaultValue = "tcp",
        description = "The datamover between learners and shards: tcp, shm or iser.")
    private String datamover;

    @Option(names = "--iterations", paramLabel = "N", defaultValue = "60",
        description = "The number of measured iterations.")
    private int iterations;

    @Option(names = "--warm-up", paramLabel = "N", defaultValue = "20",
        description = "The number of iterations before the measured iterations, at least 2.")
    private int warmUp;

    @Option(names = "--consistency", paramLabel = "MODE", defaultValue = "asp",
        description = "The consistency mode of the shards: asp, ssp:S or bsp.")
    private String consistency;

    @Option(names = "--aggregator", paramLabel = "NAME[:OPTIONS]", defaultValue = "sgd:lr=0.1",
        description = "The aggregator of the shards.")
    private String aggregator;

    @Option(names = "--durability", paramLabel = "MODE", split = ",", defaultValue = "memory",
        description = "One or more of ${COMPLETION-CANDIDATES}: what survives the end of a shard. Each exchange scheme is "
            + "measured with one after another. checkpoint and journal use a temporary directory (java.io.tmpdir). With "
            + "replica, each shard has one backup on this machine.")
    private List<Durability> durabilities;

    @Option(names = "--followers", paramLabel = "N", split = ",", defaultValue = "0",
        description = "One or more numbers of followers: programs that wait for each version and read the weights, as through "
            + "`mount --read-only`. Each exchange scheme is measured with one number after another.")
    private List<Integer> followers;

    @Option(names = "--follower-period", paramLabel = "TIME", defaultValue = "1s",
        description = "The time between two reads of all weights by a follower. 0: followers only wait for versions.")
    private Duration followerPeriod;

    @Option(names = "--checkpoint-every", paramLabel = "PERIOD", defaultValue = "30s",
        description = "The period of the checkpoints with the durability checkpoint or journal.")
    private String checkpointEvery;

    @Option(names = "--repeat", paramLabel = "N", defaultValue = "1",
        description = "The number of times that all is measured. The figures are means.")
    private int repeat;

    @Option(names = "--link", paramLabel = "BYTES",
        description = "The throughput of an emulated full-duplex network link for each learner, in bytes per second "
            + "and direction, such as 125MB. Default: no emulated link.")
    private ByteSize link;

    @Mixin
    private ReportOptions.WithPlot output;

    @Option(names = "--traces", paramLabel = "DIR",
        description = "The directory for the trace of each learner, which `modeldisk trace timeline` reads.")
    private Path traces;

    @Override
    public Integer call() throws IOException {
        output.check();
        TrainingPlan plan = plan();
        TrainingBench bench = new TrainingBench(plan, System.getProperty("modeldisk.command"), System.err::println);
        output.write(TrainingReport.of(title(plan), setting(plan), plan.model(), plan.modelBytes(), bench.run(),
            bench.without()));
        return 0;
    }

    private TrainingPlan plan() {
        KnownModel known = size == null ? KnownModel.named(model) : null;
        if (computeTime == null && (known == null || known.computeMs().isEmpty())) {
            throw new IllegalArgumentException("--compute-ms is missing: the computation time of " + (known == null
                ? "a model given by --size"
                : known.name()) + " is unknown");
        }
        return new TrainingPlan(known == null ? "custom" : known.name(),
            known == null ? size.bytes() : known.bytes(),
            computeTime == null ? known.computeMs().getAsDouble() : computeTime.toNanos() / 1e6, computation, learners,
            shards,
            exchanges.stream().map(Variant::parse).toList(), iterations, warmUp, throughs, binding,
            Route.Preference.named(datamover), consistency, aggregator, link == null ? 0 : link.bytes(), traces,
            durabilities, followers, followerPeriod.toNanos() / 1e6, checkpointEvery, repeat);
    }

    private static String title(TrainingPlan plan) {
        return PlainText.format("%s, %.2f MB, %.2f ms of computation", plan.model(), plan.modelBytes() / 1e6,
            plan.computeMs());
    }

    private String setting(TrainingPlan plan) {
        return PlainText.format("%s, %s, %s, %s, over %s, through the %s%s", Plural.counted(learners, "learner"),
            Plural.counted(shards, "shard"), consistency, plan.aggregator(), plan.datamover(),
            plan.throughs().stream().map(Through::toString).collect(Collectors.joining(" and ")),
            link == null
                ? ""
                : PlainText.format(", links of %.0f MB/s in each direction", plan.linkBytesPerSecond() / 1e6));
    }
}
