package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.threads.ThreadName;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

final class ThreadNamesTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(modeldisk-[^`]+)` \\|");

    @Test
    void architecturePageDescribesEachThreadOnce() throws IOException {
        String page = Files.readString(Pages.ROOT.resolve("docs/architecture.md"));
        assertThat(ROW.matcher(page).results().map(row -> row.group(1)))
            .containsExactlyInAnyOrderElementsOf(Arrays.stream(ThreadName.values()).map(ThreadName::toString).toList());
    }
}
