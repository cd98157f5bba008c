package io.modeldisk.bench.command;

import io.modeldisk.bench.load.Progress;
import io.modeldisk.bench.report.Report;
import io.modeldisk.platform.Arguments;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The options that all benchmarks have. */
final class ReportOptions {
    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3",
        description = "The number of measurements of each variant. The measurements of the variants alternate.")
    private int rounds;

    @Option(names = "--out", paramLabel = "FILE", split = ",", showDefaultValue = Visibility.NEVER,
        description = "The files to which the report is written: all figures as JSON if the name ends in .json, and the charts "
            + "if it ends in .svg or .png.")
    private List<Path> files = List.of();

    /** Checks the options before the benchmark starts. Returns the number of measurements of each variant. */
    int check() {
        files.forEach(file -> Report.check("--out", file));
        Arguments.require(rounds >= 1 && rounds <= 1000, "--rounds " + rounds + " must be from 1 to 1000");
        return rounds;
    }

    /** Prints the report and writes the files. */
    void write(Report report) throws IOException {
        Progress.show("");
        System.out.print(report.text());
        for (Path file : files) {
            report.write(file);
        }
    }
}
