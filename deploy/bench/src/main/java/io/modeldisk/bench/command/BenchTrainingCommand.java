package io.modeldisk.bench.command;

import io.modeldisk.command.ExitStatus;
import io.modeldisk.bench.shard.Datamovers;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.bench.training.Access;
import io.modeldisk.bench.training.Followers;
import io.modeldisk.bench.training.KnownModel;
import io.modeldisk.bench.training.TrainingBench;
import io.modeldisk.bench.training.TrainingPlan;
import io.modeldisk.bench.training.Variant;
import io.modeldisk.platform.units.ByteSize;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code modeldisk bench training}, which emulates learners. */
@Command(name = "training", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:All measurements are complete.",
        "1:A measurement has failed, for example because a program that it needs is not installed.",
        ExitStatus.WRONG},
    description = {
        "Measures the duration of an iteration with each exchange scheme. Emulated learners pull and push a model of a "
            + "known size, and sleep for the computation time of the model. The command starts the shards on loopback, "
            + "each in its own process. The charts show a timeline of the last iterations: when each learner computed, "
            + "waited, pushed and pulled.",
        "The models have the sizes (1 MB is 10^6 bytes) and computation times of Xue et al. 2018, table 1: AlexNet "
            + "(176.42 MB, 7.61 ms), Inception-v3 (92.90 MB, 68.32 ms), VGGNet-16 (512.32 MB, 30.92 ms), LSTM (35.93 "
            + "MB, 33.33 ms), GRU (27.92 MB, 30.44 ms), FCN-5 (204.47 MB, 4.88 ms). For ResNet-50 (102.21 "
            + "MB) and LeNet-5 (1.72 MB), --model must contain the computation time."},
    footer = {"", "Examples:", "  modeldisk bench training --model LSTM --learners 2 --out lstm.json,lstm.png",
        "  modeldisk bench training --model GRU:10ms --link 250MB \\",
        "      --exchange direct,overlap,overlap:after-push"})
final class BenchTrainingCommand implements Callable<Integer> {
    @Option(names = "--model", paramLabel = "NAME|BYTES[:TIME]", defaultValue = "LSTM",
        description = "The name of a model in the list above, or the size of another model, such as 4MB:40ms. TIME is the "
            + "computation time of an iteration.")
    private String model;

    @Option(names = "--learners", paramLabel = "N", defaultValue = "2", description = "The number of learners.")
    private int learners;

    @Option(names = "--shards", paramLabel = "N", defaultValue = "2", description = "The number of shards.")
    private int shards;

    @Option(names = "--exchange", paramLabel = "SCHEME[:PULL]", split = ",",
        defaultValue = "direct,sync,overlap:after-push,overlap:adaptive,overlap:beside-push",
        description = "The exchange schemes: direct, sync or overlap. For overlap, PULL is a value of the option --pull of "
            + "`mount`.")
    private List<String> exchanges;

    @Option(names = "--through", paramLabel = "ACCESS", split = ",", defaultValue = "mount",
        description = "One or both of ${COMPLETION-CANDIDATES}: the access to the model. mount: the learner has its own "
            + "memory, and reads and writes the file of a mount. mapped: the learner maps the buffers of a mount, and computes "
            + "there, which direct does not allow.")
    private List<Access> accesses;

    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "tcp",
        description = "One or more of tcp, shm and iser.")
    private List<String> datamovers;

    @Option(names = "--iterations", paramLabel = "N", defaultValue = "60",
        description = "The number of measured iterations. A third of this number of iterations run before them as a warm-up.")
    private int iterations;

    @Option(names = "--consistency", paramLabel = "MODE", defaultValue = "asp",
        description = "The consistency mode of the shards: asp, ssp:S or bsp.")
    private String consistency;

    @Option(names = "--durability", paramLabel = "MODE", split = ",", defaultValue = "memory",
        description = "One or more of ${COMPLETION-CANDIDATES}: what survives the end of a shard. checkpoint (every 30 s) and "
            + "journal use a temporary directory (java.io.tmpdir). With replica, each shard has one backup on this machine.")
    private List<Durability> durabilities;

    @Option(names = "--followers", paramLabel = "N[:wait]", split = ",", defaultValue = "0",
        description = "One or more numbers of followers: programs that wait for each version and read the weights once a second, "
            + "as through `mount --read-only`. With :wait, such as 4:wait, the followers read nothing.")
    private List<String> followers;

    @Option(names = "--link", paramLabel = "BYTES",
        description = "The throughput of an emulated full-duplex network link for each learner, in bytes per second "
            + "and direction, such as 125MB. Default: no emulated link.")
    private ByteSize link;

    @Mixin
    private ReportOptions output;

    @Override
    public Integer call() throws IOException {
        output.write(new TrainingBench(plan()).run());
        return 0;
    }

    /** Returns the plan that the options describe. Throws an {@code IllegalArgumentException} if a value is out of range. */
    TrainingPlan plan() {
        return new TrainingPlan(KnownModel.parse(model), learners, shards,
            exchanges.stream().map(Variant::parse).toList(),
            iterations, accesses, Datamovers.named(datamovers), consistency, link == null ? 0 : link.bytes(),
            durabilities,
            followers.stream().map(Followers::parse).toList(), output.check());
    }
}
