package io.modeldisk.bench.command;

import io.modeldisk.bench.report.Report;
import io.modeldisk.bench.report.ReportFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** The options that name the output files of a benchmark. */
class ReportOptions {
    @Option(names = "--json", paramLabel = "FILE", description = "The file to which all figures are written as JSON.")
    private Path json;

    /** The options that name the output files of a benchmark with charts. */
    static final class WithPlot extends ReportOptions {
        @Option(names = "--plot", paramLabel = "FILE", split = ",",
            description = "The files to which the charts are written. The name of each FILE ends in .svg or .png.")
        private List<Path> plots = List.of();

        @Override
        void check() {
            super.check();
            for (Path plot : plots) {
                ReportFiles.checkPlot(plot);
                ReportFiles.checkDirectory("--plot", plot);
            }
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
    void check() {
        if (json != null) {
            ReportFiles.checkDirectory("--json", json);
        }
    }

    /** Prints the report and writes the files that the options name. */
    void write(Report report) throws IOException {
        Progress.show("");
        System.out.print(report.text());
        if (json != null) {
            ReportFiles.writeJson(report, json);
        }
    }
}
