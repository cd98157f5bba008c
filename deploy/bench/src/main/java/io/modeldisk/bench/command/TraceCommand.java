package io.modeldisk.bench.command;

import io.modeldisk.command.Plural;
import io.modeldisk.command.Subcommand;
import io.modeldisk.timeline.Curves;
import io.modeldisk.timeline.Timeline;
import io.modeldisk.timeline.TimelineDrawing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code modeldisk trace}, which draws the traces of mounts, and figures over time. */
@Command(name = "trace", mixinStandardHelpOptions = true,
    description = "Draws the traces of mounts, the reports of learners, and throughputs over time.")
public final class TraceCommand implements Runnable, Subcommand {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
            "the name of a drawing is missing; add timeline, accuracy or bandwidth");
    }

    @Command(name = "timeline", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
        description = {
            "Draws the phases of each learner over time (compute, stall, push, bubble, pull), as NAME.svg and "
                + "NAME.png. Merges the traces into NAME.json, which Perfetto (ui.perfetto.dev) and chrome://tracing "
                + "can read.",
            "A trace is the file DIR/trace.json of a mount, or the file of `mount --trace FILE`. If the traces are "
                + "from several machines, the clocks of these machines must be synchronized."},
        footer = {"", "Example:", "  modeldisk trace timeline /mnt/learner-1/trace.json /mnt/learner-2/trace.json"})
    int timeline(
        @Parameters(paramLabel = "TRACE", arity = "1..*", description = "The trace of one learner.") List<Path> traces,
        @Option(names = "--out", paramLabel = "NAME", defaultValue = "timeline",
            description = "The name of the written files, without the extension.") Path out,
        @Option(names = "--iterations", paramLabel = "N", defaultValue = "6",
            description = "The number of iterations to draw. NAME.json contains all iterations.") int iterations,
        @Option(names = "--from", paramLabel = "ITERATION",
            description = "The number of the first iteration to draw, as numbered in the first trace. Default: the "
                + "last iterations are drawn.") Long from)
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
        System.out.printf(Locale.ROOT, "wrote %s, .png and .json: %s of %s%n", beside(out, ".svg"),
            Plural.counted(iterations, "iteration"),
            Plural.counted(timeline.learners().size(), "learner"));
        return 0;
    }

    @Command(name = "accuracy", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
        description = {"Draws the accuracy of learners over time, as NAME.svg and NAME.png.",
            "A report consists of lines of JSON. Each line is an object with two numbers: seconds (the time since "
                + "the start of the learner) and accuracy (0 to 1)."},
        footer = {"", "Example:", "  modeldisk trace accuracy learner-1.jsonl learner-2.jsonl"})
    int accuracy(
        @Parameters(paramLabel = "REPORT", arity = "1..*",
            description = "The report of one learner.") List<Path> reports,
        @Option(names = "--out", paramLabel = "NAME", defaultValue = "accuracy",
            description = "The name of the written files, without the extension.") Path out)
        throws IOException {
        return draw(Curves.Kind.ACCURACY, reports, out, "learner");
    }

    @Command(name = "bandwidth", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
        description = {"Draws throughputs over time, as NAME.svg and NAME.png, with one line for each file.",
            "A file consists of lines of JSON. Each line is an object with two numbers: seconds and gigabytesPerSecond. A file "
                + "whose name begins with floor is drawn as a dashed line."},
        footer = {"", "Example:", "  modeldisk trace bandwidth push.jsonl pull.jsonl floor.jsonl"})
    int bandwidth(
        @Parameters(paramLabel = "FILE", arity = "1..*", description = "The throughput over time.") List<Path> files,
        @Option(names = "--out", paramLabel = "NAME", defaultValue = "bandwidth",
            description = "The name of the written files, without the extension.") Path out)
        throws IOException {
        return draw(Curves.Kind.BANDWIDTH, files, out, "line");
    }

    private static int draw(Curves.Kind kind, List<Path> files, Path out, String noun) throws IOException {
        Curves curves = Curves.read(kind, files);
        curves.write(beside(out, ".svg"));
        curves.write(beside(out, ".png"));
        System.out.printf(Locale.ROOT, "wrote %s and .png: %s%n", beside(out, ".svg"),
            Plural.counted(curves.lines().size(), noun));
        return 0;
    }

    private static Path beside(Path out, String extension) {
        return out.resolveSibling(out.getFileName() + extension);
    }
}
