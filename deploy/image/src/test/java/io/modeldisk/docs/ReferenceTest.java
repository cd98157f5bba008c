package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.command.Main;
import io.modeldisk.protocol.dialect.Metric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks that the reference page and the descriptions in the dashboard match the code. With {@code -Dupdate}, the tests first
 * update the files.
 */
final class ReferenceTest {
    private static final Path ROOT = Path.of(System.getProperty("project.root"));
    private static final String RENEW = "mvn -q -pl deploy/image -am -Dtest=ReferenceTest "
        + "-Dsurefire.failIfNoSpecifiedTests=false -Dupdate test";

    @Test
    void referencePageMatchesTheCode() throws IOException {
        assertMatches("docs/reference.md", Reference.of(Main.commandLine(), RENEW));
    }

    @Test
    void dashboardPanelsHaveTheDescriptionsOfTheirMetrics() throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        JsonNode dashboard = mapper.readTree(ROOT.resolve("deploy/metrics/dashboard.json").toFile());
        Map<String, String> descriptions = Stream.of(Metric.values())
            .filter(metric -> metric.kind() != Metric.Kind.TEXT)
            .collect(Collectors.toMap(Metric::prometheusName, Metric::description));
        for (JsonNode panel : dashboard.findParents("gridPos")) {
            String description = descriptions.get(panel.path("title").asText());
            if (description != null) {
                ((ObjectNode) panel).put("description", description);
            }
        }
        assertMatches("deploy/metrics/dashboard.json",
            mapper.writerWithDefaultPrettyPrinter().writeValueAsString(dashboard) + "\n");
    }

    private static void assertMatches(String name, String expected) throws IOException {
        Path file = ROOT.resolve(name);
        if (System.getProperty("update") != null) {
            Files.writeString(file, expected);
        }

        assertThat(file).as(name + " is out of date; renew it with: " + RENEW).exists().hasContent(expected);
    }
}
