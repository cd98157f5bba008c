package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.text.PlainText;

/**
 * The result of {@code bench start --commands}. Times are in seconds.
 *
 * @param java the time of {@code java --version}
 * @param help the time of {@code modeldisk --help}
 * @param serve the time until a shard of 4 MiB is ready
 * @param mount the time until its model is mounted
 */
public record CommandStartReport(Samples java, Samples help, Samples serve, Samples mount) implements Report {
    @Override
    public String benchmark() {
        return "start-commands";
    }

    @Override
    public String text() {
        return new Table(1, "command", "seconds", "minimum", "maximum", "ratio to java --version")
            .row(cells("java --version", java))
            .row(cells("modeldisk --help", help))
            .row(cells("modeldisk serve, 4 MiB, until ready", serve))
            .row(cells("modeldisk mount, until ready", mount))
            .toString();
    }

    private String[] cells(String name, Samples seconds) {
        return new String[]{name, format(seconds.median()), format(seconds.min()), format(seconds.max()),
            Units.ratio(seconds.over(java))};
    }

    private static String format(double seconds) {
        return PlainText.format("%.2f", seconds);
    }

    @Override
    public void addTo(ObjectNode root) {
        ReportFiles.put(root, "javaSeconds", java);
        ReportFiles.put(root, "helpSeconds", help);
        ReportFiles.put(root, "serveSeconds", serve);
        ReportFiles.put(root, "mountSeconds", mount);
        ReportFiles.put(root, "helpOverJava", help.over(java));
        ReportFiles.put(root, "serveOverJava", serve.over(java));
        ReportFiles.put(root, "mountOverJava", mount.over(java));
    }
}
