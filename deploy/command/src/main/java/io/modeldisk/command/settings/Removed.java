package io.modeldisk.command.settings;

import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The commands and options that earlier versions had, and the messages that name their replacements. */
public final class Removed {
    private static final String ROUNDS = "it is now called --rounds";
    private static final String OUT = "--out FILE.json,FILE.png writes figures and charts";
    private static final String MODEL = "--model BYTES:TIME sets the size and the computation time";
    private static final String FIXED = "it has no replacement, because the value is now fixed";
    private static final String TRACE = "`modeldisk trace FILE...` detects the kind of each file";
    private static final String TUNING = "the file of --tuning sets it; `modeldisk tune` writes this file";

    /** The replacement of each removed command, such as {@code bench.micro}, or option, such as {@code bench.protocol.pairs}. */
    private static final Map<String, String> REPLACEMENTS = Map.ofEntries(
        Map.entry("top",
            "`watch modeldisk status ADDRESS` shows the state of a model, and the page of `serve --admin` and "
                + "`mount --admin` shows it in a browser"),
        Map.entry("doctor.collect",
            "'What to send with a bug report' in docs/operations.md lists the commands whose output to send"),
        Map.entry("doctor.listen", "`ss -ltn` shows the ports in use, and `serve` says if its port is one of them"),
        Map.entry("doctor.json",
            "the exit status is 0 if all requirements are met, and each line begins with its state"),
        Map.entry("mount.trace", "copy DIR/trace.json before the unmount"),
        Map.entry("checkpoint.to",
            "copy the printed folder: cp -a \"$(modeldisk checkpoint ADDRESS)\" DIR"),
        Map.entry("serve.allow-initiator", "list the initiators in the lines 'peer' of the file of --secrets"),
        Map.entry("serve.replica-datamover",
            "the records use the first of shared memory, RDMA and TCP that --datamover names in both processes"),
        Map.entry("serve.max-logins", FIXED),
        Map.entry("serve.login-timeout", FIXED),
        Map.entry("serve.eager", TUNING),
        Map.entry("mount.eager", TUNING),
        Map.entry("mount.request-size", TUNING),
        Map.entry("mount.queue-depth", TUNING),
        Map.entry("bench.micro", "`modeldisk bench protocol --measures latency,fan-in,mesh` measures the same"),
        Map.entry("bench.sessions", "`modeldisk bench protocol --measures sessions` measures the same"),
        Map.entry("bench.start", "docs/measurements.md lists the shell commands that measure starts"),
        Map.entry("bench.protocol.pairs", ROUNDS),
        Map.entry("bench.protocol.latency-sizes", "use --sizes with --measures latency"),
        Map.entry("bench.protocol.json", OUT),
        Map.entry("bench.protocol.plot", OUT),
        Map.entry("bench.aggregator.pairs", ROUNDS),
        Map.entry("bench.aggregator.size", FIXED),
        Map.entry("bench.aggregator.block-size", FIXED),
        Map.entry("bench.aggregator.json", OUT),
        Map.entry("bench.mount.measures",
            "`modeldisk bench training --through mount,mapped` measures a learner's time"),
        Map.entry("bench.mount.request-size", "it is now called --sizes"),
        Map.entry("bench.mount.queue-depth", "1 and 8 are always measured"),
        Map.entry("bench.mount.warm-up", FIXED),
        Map.entry("bench.mount.duration", FIXED),
        Map.entry("bench.mount.model-size", FIXED),
        Map.entry("bench.mount.json", OUT),
        Map.entry("bench.mount.plot", OUT),
        Map.entry("bench.training.through.initiator", "use --through mapped, which makes no copy"),
        Map.entry("bench.training.size", MODEL),
        Map.entry("bench.training.compute", MODEL),
        Map.entry("bench.training.binding", FIXED),
        Map.entry("bench.training.aggregator", FIXED),
        Map.entry("bench.training.checkpoint-every", FIXED),
        Map.entry("bench.training.warm-up", "--iterations sets the warm-up too"),
        Map.entry("bench.training.follower-period", "--followers N:wait is for followers that read nothing"),
        Map.entry("bench.training.repeat", ROUNDS),
        Map.entry("bench.training.traces", "--out FILE.png writes the timeline of each case"),
        Map.entry("bench.training.json", OUT),
        Map.entry("bench.training.plot", OUT),
        Map.entry("trace.timeline", TRACE),
        Map.entry("trace.accuracy", TRACE),
        Map.entry("trace.bandwidth", TRACE),
        Map.entry("bench.baseline.model-size", "`modeldisk bench protocol` sends the size to the server"));

    private Removed() {}

    /** Returns a sentence about the first removed command, option or value among wrong arguments; empty if there is none. */
    public static Optional<String> sentence(ParameterException failure) {
        if (failure.getArgSpec() != null) {
            return sentence(failure.getValue(),
                Settings.variable(Settings.key(failure.getArgSpec()) + "." + failure.getValue()));
        }
        return failure instanceof UnmatchedArgumentException unmatched ? sentence(unmatched) : Optional.empty();
    }

    private static Optional<String> sentence(UnmatchedArgumentException failure) {
        CommandSpec command = failure.getCommandLine().getCommandSpec();
        String prefix = command.qualifiedName(".").replaceFirst("^modeldisk\\.?", "");
        for (String argument : failure.getUnmatched()) {
            String name = argument.replaceFirst("=.*", "");
            String key = name.replaceFirst("^--", "");
            Optional<String> found = sentence(name, Settings.variable(prefix.isEmpty() ? key : prefix + "." + key));
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /**
     * Returns a sentence about a setting of a removed command or option; empty if the setting does not belong to one.
     *
     * @param name the name that the user has written
     * @param variable the environment variable of the setting, such as {@code MODELDISK_TOP_INTERVAL}
     */
    public static Optional<String> sentence(String name, String variable) {
        for (Entry<String, String> each : REPLACEMENTS.entrySet()) {
            String removed = Settings.variable(each.getKey());
            if (variable.equals(removed) || variable.startsWith(removed + "_")) {
                return Optional.of("'" + name + "' was removed: " + each.getValue());
            }
        }
        return Optional.empty();
    }
}
