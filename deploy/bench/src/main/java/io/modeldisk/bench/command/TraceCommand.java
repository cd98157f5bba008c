package io.modeldisk.bench.command;

import io.modeldisk.bench.report.ChartFile;
import io.modeldisk.bench.trace.Curves;
import io.modeldisk.bench.trace.Timeline;
import io.modeldisk.command.ExitStatus;
import io.modeldisk.command.Subcommand;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.SettingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.knowm.xchart.XYChart;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code modeldisk trace}, which draws the traces of mounts, and figures over time. */
@Command(name = "trace", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:The charts are written.",
        "1:A file has no iterations yet or is not a trace, or the charts cannot be written.",
        ExitStatus.WRONG},
    description = {
        "Draws the last iterations of learners, or their figures over time, as NAME.svg and NAME.png.",
        "Files that end in .json are traces of mounts: DIR/trace.json, or a copy of it. The chart shows "
            + "when each learner computed, stalled, pushed, delayed its pull and pulled. If the traces are from several "
            + "machines, their clocks must be synchronized. Perfetto (ui.perfetto.dev) shows all iterations of such a file.",
        "Other files contain a JSON object on each line, with the numbers seconds, and accuracy (0 to 1) or gigabytesPerSecond. "
            + "A file whose name begins with floor is drawn as a dashed line."},
    footer = {"", "Examples:", "  modeldisk trace /mnt/learner-1/trace.json /mnt/learner-2/trace.json",
        "  modeldisk trace learner-1.jsonl learner-2.jsonl --out accuracy"})
public final class TraceCommand implements Callable<Integer>, Subcommand {
    /** The subcommands of earlier versions, one for each kind of file. */
    private static final Set<String> KINDS = Set.of("timeline", "accuracy", "bandwidth");

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "The trace or the figures of one learner.")
    private List<Path> files;

    @Option(names = "--out", paramLabel = "NAME", defaultValue = "trace",
        description = "The name of the written files, without the extension.")
    private Path out;

    @Override
    public Integer call() throws IOException {
        String first = files.getFirst().toString();
        Arguments.require(!KINDS.contains(first) || Files.exists(files.getFirst()),
            "the subcommand '" + first + "' was removed: `modeldisk trace FILE...` detects the kind of each file");
        for (Path file : files) {
            if (!Files.exists(file)) {
                throw new SettingException(file + " does not exist; give the trace of a mount, such as DIR/trace.json");
            }
        }
        XYChart chart = first.endsWith(".json") ? timeline().chart() : Curves.chart(files);
        for (String extension : List.of(".svg", ".png")) {
            ChartFile.write(List.of(chart), out.resolveSibling(out.getFileName() + extension));
        }
        System.out.println("wrote " + out + ".svg and .png");
        return 0;
    }

    private Timeline timeline() throws IOException {
        Timeline timeline = new Timeline();
        for (Path file : files) {
            timeline.add(file.toString(), Files.readAllBytes(file));
        }
        return timeline;
    }
}
