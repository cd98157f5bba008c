package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.command.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Checks that the files that are generated from the code match it. With {@code -Dupdate}, the tests first write the files. */
final class ReferenceTest {
    private static final Path ROOT = Path.of(System.getProperty("project.root"));
    private static final String RENEW = "mvn -q -pl deploy/image -am -Dtest=ReferenceTest "
        + "-Dsurefire.failIfNoSpecifiedTests=false -Dupdate test";

    @Test
    void referencePageMatchesTheCode() throws IOException {
        assertMatches("docs/reference.md", Reference.of(Main.commandLine(), RENEW));
    }

    @Test
    void dashboardMatchesTheDeclarationsOfTheMetrics() throws IOException {
        assertMatches("deploy/metrics/dashboard.json", Dashboard.text());
    }

    private static void assertMatches(String name, String expected) throws IOException {
        Path file = ROOT.resolve(name);
        if (System.getProperty("update") != null) {
            Files.writeString(file, expected);
        }

        assertThat(file).as(name + " is out of date; renew it with: " + RENEW).exists().hasContent(expected);
    }
}
