package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.dialect.Metric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the metric names in the documentation, the alerts and the dashboard. {@code MetricsIT} checks running processes. */
final class MetricNamesTest {
    private static final Path ROOT = Path.of(System.getProperty("project.root"));
    private static final Pattern NAME = Pattern.compile("\\bmodeldisk(_[a-z]+)+\\b");
    private static final Pattern ALERT = Pattern.compile("alert: (\\w+)");
    private static final Pattern TESTED = Pattern.compile("alertname=\"(\\w+)\", alertstate=\"firing\"");
    /** Words that match {@code NAME} but are not metrics: a Python file and a Python variable. */
    private static final Set<String> OTHERS = Set.of("modeldisk_torch", "modeldisk_metrics");

    private static Set<String> matches(Pattern pattern, int group, String text) {
        return pattern.matcher(text).results().map(match -> match.group(group))
            .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> declared() {
        return Stream.of(Metric.values()).map(Metric::prometheusName).collect(Collectors.toSet());
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs", "deploy/metrics"})
    void everyMetricInTheDocsAndAlertsIsDeclared(String place) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT.resolve(place))) {
            for (Path file : files.filter(each -> each.toString().matches(".*\\.(md|yml|json)")).toList()) {
                Set<String> names = matches(NAME, 0, Files.readString(file));
                names.removeAll(OTHERS);
                assertThat(declared()).as(file.toString()).containsAll(names);
            }
        }
    }

    @Test
    void everyDeclaredMetricIsInTheReferenceAndInTheDashboard() throws IOException {
        String reference = Files.readString(ROOT.resolve("docs/reference.md"));
        String dashboard = String.join("\n", new ObjectMapper()
            .readTree(ROOT.resolve("deploy/metrics/dashboard.json").toFile()).findValuesAsText("expr"));

        for (Metric metric : Metric.values()) {
            assertThat(reference).as(metric.name()).contains("`" + metric.prometheusName() + "`");
            assertThat(matches(NAME, 0, dashboard)).as(metric.name()).contains(metric.prometheusName());
        }
    }

    @Test
    void everyAlertFiresInATest() throws IOException {
        Set<String> alerts = matches(ALERT, 1, Files.readString(ROOT.resolve("deploy/metrics/alerts.yml")));
        Set<String> tested = matches(TESTED, 1, Files.readString(ROOT.resolve("deploy/metrics/alerts.test.yml")));

        assertThat(alerts).isNotEmpty().isEqualTo(tested);
    }

    @Test
    void dashboardPanelsHaveDistinctPlacesAndNumbers() throws IOException {
        JsonNode dashboard = new ObjectMapper().readTree(ROOT.resolve("deploy/metrics/dashboard.json").toFile());
        List<JsonNode> panels = dashboard.findParents("gridPos");
        Set<Integer> numbers = new HashSet<>();
        Set<List<Integer>> places = new HashSet<>();
        for (JsonNode panel : panels) {
            assertThat(numbers.add(panel.path("id").asInt())).as(panel.path("title").asText()).isTrue();
            JsonNode at = panel.path("gridPos");
            for (int x = at.path("x").asInt(); x < at.path("x").asInt() + at.path("w").asInt(); x++) {
                for (int y = at.path("y").asInt(); y < at.path("y").asInt() + at.path("h").asInt(); y++) {
                    assertThat(x).isLessThan(24);
                    assertThat(places.add(List.of(x, y))).as(panel.path("title").asText()).isTrue();
                }
            }
        }
    }
}
