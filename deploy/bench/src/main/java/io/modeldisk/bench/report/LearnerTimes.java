package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.text.PlainText;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.CategoryChart;

/**
 * The times of a learner with one exchange scheme over one datamover. All times are in milliseconds, and are means over the
 * iterations of a round.
 *
 * @param exchange the scheme
 * @param datamover the datamover between the mount and the shard
 * @param through {@code mount} for read and write, {@code mapped} for mapped buffers
 * @param computeMs the duration of the computation
 * @param fileMs the duration of reading the weights and writing the gradient
 * @param fsyncMs the duration of fsync
 * @param iterationMs the duration of an iteration
 */
public record LearnerTimes(
    String exchange, String datamover, String through, Samples computeMs, Samples fileMs, Samples fsyncMs,
    Samples iterationMs) {
    private static final String READ_AND_WRITE = "mount";

    /** Returns the times of the results of several rounds. */
    public static LearnerTimes of(String exchange, String datamover, String through, List<TrainingResult> rounds) {
        return new LearnerTimes(exchange, datamover, through, samples(rounds, TrainingResult::computeMs),
            samples(rounds, TrainingResult::fileMs), samples(rounds, TrainingResult::fsyncMs),
            samples(rounds, TrainingResult::iterationMs));
    }

    private static Samples samples(List<TrainingResult> rounds, ToDoubleFunction<TrainingResult> figure) {
        return Samples.of(rounds.stream().mapToDouble(figure).toArray());
    }

    /** Returns a table with one line for each scheme and datamover: read and write, and mapped buffers beside them. */
    static Table table(List<LearnerTimes> all) {
        Table table = new Table(2, "exchange", "over", "read and write", "mapped", "mapped / read and write",
            "iteration: read and write", "mapped");
        for (LearnerTimes copied : all) {
            if (!copied.through.equals(READ_AND_WRITE)) {
                continue;
            }
            List<String> cells = new ArrayList<>(List.of(copied.exchange, copied.datamover, ms(copied.fileMs), "-", "-",
                ms(copied.iterationMs), "-"));
            all.stream().filter(copied::isMappedBeside).findFirst().ifPresent(mapped -> {
                cells.set(3, ms(mapped.fileMs));
                cells.set(4, PlainText.format("%.4f", mapped.fileMs.over(copied.fileMs).median()));
                cells.set(6, ms(mapped.iterationMs));
            });
            table.row(cells.toArray(String[]::new));
        }
        return table;
    }

    private boolean isMappedBeside(LearnerTimes other) {
        return other.exchange.equals(exchange) && other.datamover.equals(datamover)
            && !other.through.equals(READ_AND_WRITE);
    }

    private static String ms(Samples samples) {
        return PlainText.format("%.2f", samples.median());
    }

    void addTo(ObjectNode root) {
        ObjectNode node = root.withArray("learner").addObject().put("exchange", exchange).put("datamover", datamover)
            .put("through", through);
        ReportFiles.put(node, "computeMs", computeMs);
        ReportFiles.put(node, "fileMs", fileMs);
        ReportFiles.put(node, "fsyncMs", fsyncMs);
        ReportFiles.put(node, "iterationMs", iterationMs);
    }

    /** Returns a chart with one bar for each of these times. A bar shows the parts of an iteration. */
    static CategoryChart chart(List<LearnerTimes> shown) {
        CategoryChart chart = Charts.bars("A learner's iteration over " + shown.getFirst().datamover, "",
            "milliseconds, median");
        List<String> names = shown.stream().map(LearnerTimes::name).toList();
        bar(chart, "compute", names, shown, LearnerTimes::computeMs, 0);
        bar(chart, "read weights, write gradient", names, shown, LearnerTimes::fileMs, 1);
        bar(chart, "wait in fsync", names, shown, LearnerTimes::fsyncMs, 2);
        return chart;
    }

    private String name() {
        return exchange + (through.equals(READ_AND_WRITE) ? ", read and write" : ", " + through);
    }

    private static void bar(
        CategoryChart chart, String part, List<String> names, List<LearnerTimes> shown,
        Function<LearnerTimes, Samples> figure, int colour) {
        Charts.bar(chart, part, names, shown.stream().map(times -> figure.apply(times).median()).toList(), colour);
    }
}
