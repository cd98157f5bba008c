package io.modeldisk.admin.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.admin.AdminPage;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.test.Await;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ModelPageTest {
    private static final String SCRIPT = "<script>alert(1)</script>";

    private final Overview overview = new Overview(NanoClock.SYSTEM, "a test", 2);
    private final Map<String, AdminPage> pages = new ModelPage(() -> overview).pages().stream()
        .collect(Collectors.toMap(AdminPage::path, Function.identity()));

    private String content(String path) {
        return new String(pages.get(path).content().get(), StandardCharsets.UTF_8);
    }

    @Test
    void pageLoadsOnlyFilesOfThisServer() {
        Pattern.compile("(?:href|src)=\"([^\"]*)\"").matcher(content("/")).results()
            .forEach(reference -> assertThat(pages).containsKey("/" + reference.group(1)));
        String all = content("/") + content("/page.css")
            + content("/model.js") + content("/page.js").replace("http://www.w3.org/2000/svg", "");
        assertThat(all).doesNotContain("http:", "https:", "//cdn", "@import", "url(");
    }

    @Test
    void scriptsNeverInsertTextAsHtml() {
        assertThat(content("/page.js") + content("/model.js")).doesNotContain("innerHTML", "outerHTML",
            "insertAdjacentHTML", "document.write",
            "eval(", "new Function", "DOMParser");
        assertThat(content("/")).as("inline scripts and styles, which the security policy forbids")
            .doesNotContain("<style", " style=", " onclick=").doesNotContainPattern("<script(?! src=)");
    }

    /** WCAG 2.2, success criterion 1.4.3: the contrast between a text and its background is at least 4.5. */
    @ParameterizedTest
    @CsvSource({"0, light", "1, dark"})
    void textsHaveEnoughContrast(int theme, String name) {
        String css = content("/page.css").split("prefers-color-scheme: dark")[theme];
        for (String card : List.of("page", "card")) {
            for (String text : List.of("text", "quiet", "one", "two", "error", "warning", "good")) {
                assertThat(contrast(css, text, card)).as(name + ": " + text + " on " + card).isGreaterThan(4.5);
            }
        }
        for (String kind : List.of("error", "warning")) {
            assertThat(contrast(css, kind, kind + "-card")).as(name + ": " + kind).isGreaterThan(4.5);
            assertThat(contrast(css, "text", kind + "-card")).as(name + ": text of " + kind).isGreaterThan(4.5);
        }
    }

    private static double contrast(String css, String one, String other) {
        double first = luminance(css, one);
        double second = luminance(css, other);
        return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
    }

    private static double luminance(String css, String variable) {
        Matcher value = Pattern.compile("--" + variable + ": #(\\p{XDigit}{6});").matcher(css);
        assertThat(value.find()).as(variable).isTrue();
        int rgb = Integer.parseInt(value.group(1), 16);
        return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8 & 0xFF) + 0.0722 * linear(rgb & 0xFF);
    }

    private static double linear(int channel) {
        double value = channel / 255.0;
        return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
    }

    @Test
    void jsonContainsTheNameOfALearnerUnchanged() {
        overview.shard(0, _ -> OverviewTest.report(0, "{'learners':[{'learner':'" + SCRIPT + "'}]}"));
        assertThat(pages.get("/model.json").contentType()).isEqualTo("application/json");
        Await.await("the shard has answered",
            () -> content("/model.json").contains("{\"learner\":\"" + SCRIPT + "\"}"));
    }
}
