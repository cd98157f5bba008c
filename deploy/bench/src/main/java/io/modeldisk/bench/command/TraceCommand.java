package io.modeldisk.bench.command;

import io.modeldisk.command.Plural;
import io.modeldisk.command.Subcommand;
import io.modeldisk.timeline.LearningCurve;
import io.modeldisk.timeline.Timeline;
import io.modeldisk.timeline.TimelineDrawing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code modeldisk trace}: what mounts and learners have noted. */
@Command(name = "trace", mixinStandardHelpOptions = true,
    description = "Shows what mounts and learners have noted of their iterations.")
public final class TraceCommand implements Runnable, Subcommand {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "what is to be shown? trace timeline or trace accuracy");
    }

    @Command(name = "timeline", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
        description = {
            "Draws who computed, pushed, slept, pulled and waited when, as NAME.svg and NAME.png, and puts the traces of all "
                + "learners together in NAME.json, for Perfetto (ui.perfetto.dev) and chrome://tracing.",
            "A trace is DIR/trace.json of a mount, or what `mount --trace FILE` has left; clocks of several machines are "
                + "taken for the same."},
        footer = {"", "Example:", "  modeldisk trace timeline /mnt/learner-1/trace.json /mnt/learner-2/trace.json"})
    int timeline(
        @Parameters(paramLabel = "TRACE", arity = "1..*", description = "A trace, one a learner.") List<Path> traces,
        @Option(names = "--out", paramLabel = "NAME", defaultValue = "timeline",
            description = "Where to draw, without an extension.") Path out,
        @Option(names = "--iterations", paramLabel = "N", defaultValue = "6",
            description = "How many iterations to draw; NAME.json has all.") int iterations,
        @Option(names = "--from", paramLabel = "ITERATION",
            description = "The first to draw, by the first learner's count; by default the last ones are drawn.") Long from)
        throws IOException {
        Timeline timeline = Timeline.read(traces);
        if (iterations < 1) {
            throw new IllegalArgumentException("--iterations " + iterations + " must be at least 1");
        }
        Timeline.Window window = from == null ? timeline.last(iterations) : timeline.from(from, iterations);
        TimelineDrawing drawing = new TimelineDrawing(timeline, window);
        drawing.write(beside(out, ".svg"));
        drawing.write(beside(out, ".png"));
        Files.write(beside(out, ".json"), timeline.toJson());
        System.out.printf("wrote %s, .png and .json: %s of %s%n", beside(out, ".svg"),
            Plural.counted(iterations, "iteration"),
            Plural.counted(timeline.learners().size(), "learner"));
        return 0;
    }

    @Command(name = "accuracy", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
        description = {"Draws how accurate learners have become over time, as NAME.svg and NAME.png.",
            "A learner reports that as lines of JSON, each an object with the numbers seconds (since it began) and accuracy "
                + "(0 to 1)."},
        footer = {"", "Example:", "  modeldisk trace accuracy learner-1.jsonl learner-2.jsonl"})
    int accuracy(
        @Parameters(paramLabel = "REPORT", arity = "1..*",
            description = "What a learner has reported, one a learner.") List<Path> reports,
        @Option(names = "--out", paramLabel = "NAME", defaultValue = "accuracy",
            description = "Where to draw, without an extension.") Path out)
        throws IOException {
        LearningCurve curve = LearningCurve.read(reports);
        curve.write(beside(out, ".svg"));
        curve.write(beside(out, ".png"));
        System.out.printf("wrote %s and .png: %s%n", beside(out, ".svg"),
            Plural.counted(curve.learners().size(), "learner"));
        return 0;
    }

    private static Path beside(Path out, String extension) {
        return out.resolveSibling(out.getFileName() + extension);
    }
}
