package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks that each message in the table "Troubleshooting" of docs/operations.md exists in the source code. */
final class TroubleshootingTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `((?:[^`\\\\]|\\\\`)+)` \\|");
    private static final List<String> SOURCES = new ArrayList<>();

    @BeforeAll
    static void readSources() throws IOException {
        try (Stream<Path> files = Files.walk(Pages.ROOT)) {
            for (Path file : files.filter(each -> each.toString().matches(".*/src/main/.*\\.java")).toList()) {
                // Joins the parts of a concatenated string, and removes placeholders.
                SOURCES.add(Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", "").replaceAll("%[sd.0-9f]+", ""));
            }
        }
    }

    static List<String> messages() throws IOException {
        String page = Files.readString(Formulas.PAGE);
        Matcher rows = ROW
            .matcher(
                page.substring(page.indexOf("## Troubleshooting"), page.indexOf("## What to send with a bug report")));
        List<String> messages = new ArrayList<>();
        while (rows.find()) {
            messages.add(rows.group(1).replace("\\`", "`"));
        }
        return messages;
    }

    private static boolean exists(String message) {
        return SOURCES.stream().anyMatch(source -> {
            int at = 0;
            for (String part : message.split("…")) {
                at = at < 0 ? at : source.indexOf(part.strip(), at);
            }
            return at >= 0;
        });
    }

    @ParameterizedTest
    @MethodSource("messages")
    void documentedMessageExistsInTheSourceCode(String message) {
        assertThat(exists(message)).as("'%s' is in the table, but not in the source code", message).isTrue();
    }

    @Test
    void inventedMessageDoesNotExistInTheSourceCode() throws IOException {
        assertThat(messages()).hasSizeGreaterThan(18);
        assertThat(exists("the shard is made of cheese")).isFalse();
    }
}
