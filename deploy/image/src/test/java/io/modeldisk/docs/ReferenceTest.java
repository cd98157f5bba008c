package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.command.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Checks that docs/reference.md matches the code. With {@code -Dupdate}, the test first writes the page. */
final class ReferenceTest {
    private static final Path PAGE = Path.of(System.getProperty("project.root"), "docs", "reference.md");
    private static final String RENEW = "mvn -q -pl deploy/image -am -Dtest=ReferenceTest "
        + "-Dsurefire.failIfNoSpecifiedTests=false -Dupdate test";

    @Test
    void referencePageMatchesTheCode() throws IOException {
        String expected = Reference.of(Main.commandLine(), RENEW);
        if (System.getProperty("update") != null) {
            Files.writeString(PAGE, expected);
        }

        assertThat(PAGE).as("docs/reference.md is out of date; renew it with: " + RENEW).exists().hasContent(expected);
    }
}
