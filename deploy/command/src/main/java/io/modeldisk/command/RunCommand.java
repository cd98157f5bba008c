package io.modeldisk.command;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.doctor.Doctor;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.OnRollback;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.run.RunPlan;
import io.modeldisk.run.TrainingRun;
import io.modeldisk.server.consistency.NonFinite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code modeldisk run}, which trains with several learners on this host. */
@Command(name = "run", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:All learners have succeeded, or with --elastic at least one.",
        "1:The run could not start, or a shard or a mount has failed. If a learner fails, run exits with its status.",
        ExitStatus.WRONG,
        ExitStatus.STOPPED},
    customSynopsis = "modeldisk run --learners N [OPTIONS of run, serve and mount] -- COMMAND...",
    description = {
        "Trains on this host: starts shards, a mount for each learner, and N processes of COMMAND; shows their output with the "
            + "rank in front; and removes everything when they have ended, or after Ctrl-C, which ends them with SIGTERM.",
        "In a PyTorch program, Learner(net) of rank 0 provides the model, so no model file is needed. A program in "
            + "another language needs --from FILE or --size BYTES; it starts after the model is mounted.",
        "The environment of a learner has MODELDISK_DIR (the directory of its mount), RANK, LOCAL_RANK and WORLD_SIZE.",
        "The options of serve and mount, such as --aggregator and --exchange, go to the shards and mounts."},
    footer = {"", "Example:", "  modeldisk run --learners 2 --aggregator adam:lr=0.001 -- python3 train.py"})
final class RunCommand implements Callable<Integer> {
    /** A larger value of {@code --learners} or {@code --shards} is taken for a typing mistake. */
    private static final int MOST_LEARNERS = 1024;

    @Option(names = "--learners", paramLabel = "N", required = true, description = "The number of learners.")
    private Integer learners;

    @Option(names = "--shards", paramLabel = "N", defaultValue = "1", description = "The number of shards.")
    private int shards;

    @Option(names = "--elastic", fallbackValue = "true",
        description = "The other learners continue when a learner fails. Without this option, run ends them.")
    private boolean elastic;

    @Option(names = "--keep", fallbackValue = "true",
        description = "Keep the shards and mounts when the learners have ended, and print how to end them. (The number of "
            + "checkpoints that serve --keep sets is here MODELDISK_SERVE_KEEP.)")
    private boolean keep;

    @Option(names = "--state", paramLabel = "DIR",
        description = "The directory of the checkpoints. A later run with this directory continues from the "
            + "newest one. With this option, run restarts a shard that dies.")
    private Path state;

    @Parameters(hidden = true)
    private List<String> words = List.of();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        CommandLine line = spec.commandLine();
        List<String> all = spec.root().commandLine().getParseResult().originalArgs();
        int end = all.indexOf("--");
        List<String> command = end < 0 ? List.of() : all.subList(end + 1, all.size());
        ForwardedOptions options = ForwardedOptions.parse(line, words.subList(0, words.size() - command.size()));
        refuse(System.getenv("MODELDISK_RUN") != null,
            "MODELDISK_RUN is set, so this process belongs to another run; start the new run outside of it");
        refuse(command.isEmpty(),
            "the program of the learners is missing; give it after --, such as: modeldisk run --learners 2 "
                + "-- python3 train.py");
        refuse(learners < 1 || learners > MOST_LEARNERS,
            "--learners=" + learners + " must be from 1 to " + MOST_LEARNERS);
        refuse(shards < 1 || shards > MOST_LEARNERS, "--shards=" + shards + " must be from 1 to " + MOST_LEARNERS);
        refuse(!exists(command.getFirst()),
            "the program '" + command.getFirst() + "' does not exist or is not executable");
        RunPlan plan = plan(options, command);
        Optional<String> obstacle = Doctor.ofThisMachine().obstacleToMounts();
        if (obstacle.isPresent()) {
            throw new IOException(obstacle.get());
        }
        return TrainingRun.run(plan);
    }

    private RunPlan plan(ForwardedOptions options, List<String> command) {
        CommandLine line = spec.commandLine();
        boolean modelGiven = Stream.of("--from", "--size", "--tensors")
            .anyMatch(name -> options.serveValue(line, name) != null);
        String model = Objects.requireNonNullElse(options.serveValue(line, "--model"), "model");
        List<String> serve = new ArrayList<>(options.serve());
        serve.removeIf(word -> word.startsWith("--model="));
        checkNames(options);
        options.check(line, Stream.concat(serve.stream(), Stream.of("--model=" + model)).toList(),
            Stream.concat(options.mount().stream(), Stream.of("modeldisk://127.0.0.1/" + model, "/")).toList());
        return new RunPlan(System.getProperty("modeldisk.command"), learners, shards, elastic, keep,
            state == null ? null : state.toAbsolutePath(), model, modelGiven, serve, options.first(), options.mount(),
            command);
    }

    /** Checks the names that serve and mount check only when they start, so that a mistake is refused before the training. */
    private void checkNames(ForwardedOptions options) {
        CommandLine line = spec.commandLine();
        Aggregators.parse(options.serveValue(line, "--aggregator"));
        ConsistencyMode.parse(options.serveValue(line, "--consistency"));
        NonFinite.parse(options.serveValue(line, "--non-finite"));
        EnumNames.parse(ExchangeScheme.class, "exchange", options.mountValue(line, "--exchange"));
        EnumNames.parse(PullPolicy.class, "pull", options.mountValue(line, "--pull"));
        EnumNames.parse(OnRollback.class, "onRollback", options.mountValue(line, "--on-rollback"));
        EnumNames.parse(Route.Preference.class, "datamover", options.mountValue(line, "--datamover"));
        ValueType.parse(options.mountValue(line, "--dtype"));
    }

    private static boolean exists(String program) {
        return program.contains("/") ? Files.isExecutable(Path.of(program)) : Processes.isInstalled(program);
    }

    private void refuse(boolean wrong, String message) {
        if (wrong) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
