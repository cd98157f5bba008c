package io.modeldisk.bench.command;

import io.modeldisk.bench.report.Report;
import io.modeldisk.bench.report.ReportFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** The options for the output of a benchmark: text on the terminal, and files. */
class ReportOptions {
    @Option(names = "--json", paramLabel = "FILE", description = "The JSON file for all figures.")
    private Path json;

    /** The options for the output of a benchmark that has charts. */
    static final class WithPlot extends ReportOptions {
        @Option(names = "--plot", paramLabel = "FILE", split = ",",
            description = "The files for the charts. The name of each FILE ends in .svg or .png.")
        private List<Path> plots = List.of();

        @Override
        void check() {
            plots.forEach(ReportFiles::checkPlot);
        }

        @Override
        void write(Report report) throws IOException {
            super.write(report);
            for (Path plot : plots) {
                ReportFiles.writePlot(report, plot);
            }
        }
    }

    /** Checks the names of the files before the benchmark starts. */
    void check() {}

    /** Prints the report and writes the files that the options name. */
    void write(Report report) throws IOException {
        Progress.show("");
        System.out.print(report.text());
        if (json != null) {
            ReportFiles.writeJson(report, json);
        }
    }
}
