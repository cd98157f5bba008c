package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.text.PlainText;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.knowm.xchart.CategoryChart;

/**
 * The result of {@code bench training}.
 *
 * @param title the model and its computation time
 * @param setting the numbers of learners and shards, the consistency mode and the access to the model
 * @param model the name of the model
 * @param modelBytes the size of the model
 * @param results the results, at least one
 * @param costs for the name of a result with followers or a durability: the iteration divided by that of the same scheme without
 *     them, for each time that both were measured; empty if neither was measured
 */
public record TrainingReport(
    String title, String setting, String model, long modelBytes, List<TrainingResult> results,
    Map<String, Samples> costs) implements Report {
    private static final String LEGEND = """

        Times are means in ms. 95 %: 95th percentile of iteration, in ms. x compute: iteration divided by compute.
        x longest: iteration divided by the longest of compute, push and pull, where push and pull are those of direct.
        Age: age of the weights at the start of compute. Staleness: number of rounds of the other learners that are
        missing from the weights at the start of compute. Speed-up: number of learners that would complete the same
        iterations in the same time if communication took no time. x without: iteration divided by the iteration of the
        same scheme without followers, or with shards that keep nothing; median (minimum-maximum).
        """;
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public String benchmark() {
        return "training";
    }

    /**
     * Returns the report of a measurement that was repeated.
     *
     * @param rounds the results of each repetition, in the same order
     * @param without for the name of a result with followers or a durability: the name of the result without them
     */
    public static TrainingReport of(
        String title, String setting, String model, long modelBytes, List<List<TrainingResult>> rounds,
        Map<String, String> without) {
        List<TrainingResult> means = new ArrayList<>();
        Map<String, double[]> iterations = new HashMap<>();
        for (int i = 0; i < rounds.getFirst().size(); i++) {
            int index = i;
            List<TrainingResult> repeated = rounds.stream().map(round -> round.get(index)).toList();
            means.add(TrainingResult.mean(repeated));
            iterations.put(repeated.getFirst().exchange(),
                repeated.stream().mapToDouble(TrainingResult::iterationMs).toArray());
        }
        Map<String, Samples> costs = new HashMap<>();
        without.forEach((name, memory) -> costs.put(name,
            Samples.of(iterations.get(name)).over(Samples.of(iterations.get(memory)))));
        return new TrainingReport(title, setting, model, modelBytes, means, costs);
    }

    private Optional<TrainingResult> direct() {
        return results.stream().filter(result -> result.exchange().equals("direct")).findFirst();
    }

    @Override
    public String text() {
        Table table = new Table(1, "exchange", "iteration", "95 %", "compute", "file", "fsync", "push", "bubble",
            "pull", "x compute", "x longest", "age", "staleness", "speed-up", costs.isEmpty() ? "" : "x without");
        for (TrainingResult result : results) {
            table.row(result.exchange(), ms(result.iterationMs()), ms(result.slowMs()), ms(result.computeMs()),
                ms(result.fileMs()), ms(result.fsyncMs()), ms(result.pushMs()), ms(result.bubbleMs()),
                ms(result.pullMs()), PlainText.format("%.3f", result.overComputation()),
                direct().map(direct -> PlainText.format("%.3f", result.over(direct))).orElse("-"), ms(result.ageMs()),
                PlainText.format("%.2f", result.staleness()),
                PlainText.format("%.2f of %d", result.speedUp(), result.learners()),
                costs.containsKey(result.exchange()) ? Units.ratio(costs.get(result.exchange())) : "");
        }
        return title + "; " + setting + "\n\n" + table + LEGEND;
    }

    private static String ms(double value) {
        return PlainText.format("%.2f", value);
    }

    @Override
    public void addTo(ObjectNode root) {
        root.put("title", title).put("setting", setting).put("model", model).put("modelBytes", modelBytes);
        for (TrainingResult result : results) {
            ObjectNode node = JSON.valueToTree(result);
            node.put("overComputation", result.overComputation()).put("speedUp", result.speedUp());
            direct().ifPresent(direct -> node.put("overLongest", result.over(direct)));
            if (costs.containsKey(result.exchange())) {
                ReportFiles.put(node, "overWithout", costs.get(result.exchange()));
            }
            root.withArray("results").add(node);
        }
    }

    /** Returns a chart with one bar for each exchange scheme. A bar shows the parts of an iteration. */
    @Override
    public List<List<CategoryChart>> charts() {
        CategoryChart chart = Charts.bars(title, setting, "milliseconds per iteration, mean of all learners");
        List<String> schemes = results.stream().map(TrainingResult::exchange).toList();
        Charts.bar(chart, "compute", schemes, results.stream().map(TrainingResult::computeMs).toList(), 0);
        Charts.bar(chart, "read weights, write gradient", schemes,
            results.stream().map(TrainingResult::fileMs).toList(), 1);
        Charts.bar(chart, "wait in fsync", schemes, results.stream().map(TrainingResult::fsyncMs).toList(), 2);
        return List.of(List.of(chart));
    }
}
