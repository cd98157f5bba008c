package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.modeldisk.command.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Checks the commands, links and source names in README.md, docs/, CHANGELOG.md and PROTOCOL.md. */
final class DocumentationTest {
    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    /**
     * Matches the path of a source file in backticks, such as {@code `ps-server/src/main/java/io/modeldisk/server/Shard.java`}.
     */
    private static final Pattern SOURCE = Pattern.compile("`([A-Za-z0-9_./-]+/[A-Za-z0-9_./-]+\\.(?:java|c|h))`");
    /** Matches a link to a class or to a class member, such as {@code [`Bsp.push`](../ps-server/.../Bsp.java)}. */
    private static final Pattern MEMBER = Pattern.compile("\\[`([A-Za-z0-9.]+)`]\\(([^)\\s]+\\.java)\\)");
    private static final int MAX_README_LINES = 200;

    static List<Path> pages() throws IOException {
        return Pages.all();
    }

    static Stream<String> modeldiskCommands() throws IOException {
        return Pages.all().stream().flatMap(DocumentationTest::commands)
            .filter(command -> command.matches("(deploy/)?modeldisk .*"));
    }

    static Stream<String> scripts() throws IOException {
        return Pages.all().stream().flatMap(DocumentationTest::commands).map(command -> command.split(" ")[0])
            .filter(program -> program.contains("/")).distinct();
    }

    private static Stream<String> commands(Path page) {
        try {
            return Pages.commands(page).stream();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @MethodSource("modeldiskCommands")
    void everyModeldiskCommandInTheDocsIsValid(String command) throws IOException {
        String[] arguments = Arrays.stream(command.split("\\s+")).skip(1).toArray(String[]::new);
        CommandLine line = Main.commandLine();

        assertThatCode(() -> line.parseArgs(arguments)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @MethodSource("mavenCommands")
    void everyMavenCommandInTheDocsNamesExistingModulesAndTests(String command) throws IOException {
        Matcher modules = Pattern.compile("-pl ([\\w/,-]+)").matcher(command);
        while (modules.find()) {
            for (String module : modules.group(1).split(",")) {
                assertThat(Pages.ROOT.resolve(module).resolve("pom.xml")).exists();
            }
        }
        Matcher test = Pattern.compile("-Dtest=(\\w+)").matcher(command);
        if (test.find()) {
            try (Stream<Path> files = Files.walk(Pages.ROOT)) {
                assertThat(files).anyMatch(file -> file.endsWith(test.group(1) + ".java"));
            }
        }
    }

    static Stream<String> mavenCommands() throws IOException {
        return Pages.all().stream().flatMap(DocumentationTest::commands).filter(command -> command.startsWith("mvn "));
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void everyScriptInTheDocsIsExecutable(String script) {
        assertThat(Pages.ROOT.resolve(script)).isExecutable();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void everyLinkInTheDocsLeadsToAnExistingFileAndHeading(Path page) throws IOException {
        Matcher links = LINK.matcher(Files.readString(page));
        while (links.find()) {
            String link = links.group(1);
            if (link.contains("://")) {
                continue;
            }
            String[] parts = link.split("#", 2);
            Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
            assertThat(target).as(link + " in " + page).exists();
            if (parts.length == 2) {
                assertThat(anchors(target)).as(link + " in " + page).contains(parts[1]);
            }
        }
    }

    /** Returns the anchors that GitHub generates from the headings of a page. */
    private static Set<String> anchors(Path page) throws IOException {
        return HEADING.matcher(Files.readString(page)).results()
            .map(heading -> heading.group(1).toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", "").replace(' ', '-'))
            .collect(Collectors.toSet());
    }

    @ParameterizedTest
    @MethodSource("pages")
    void everySourceFileNamedInTheDocsExists(Path page) throws IOException {
        Matcher sources = SOURCE.matcher(Files.readString(page));
        while (sources.find()) {
            assertThat(Pages.ROOT.resolve(sources.group(1))).as(page.toString()).exists();
        }
    }

    /** The linked file must have the name of the class, and must contain a declaration or a call of each named member. */
    @ParameterizedTest
    @MethodSource("pages")
    void everyMemberNamedInTheDocsIsInTheLinkedFile(Path page) throws IOException {
        Matcher members = MEMBER.matcher(Files.readString(page));
        while (members.find()) {
            Path file = page.resolveSibling(members.group(2)).normalize();
            String[] names = members.group(1).split("\\.");
            assertThat(file.getFileName()).as(page.toString()).hasToString(names[0] + ".java");
            String source = Files.readString(file);
            for (String name : names) {
                assertThat(source).as(members.group())
                    .containsPattern("\\b(class|record|interface|enum) " + name + "\\b|\\b"
                        + name + "\\(");
            }
        }
    }

    @Test
    void architecturePageContainsTheStateDiagramFromTaskState() throws IOException {
        Path source = Pages.ROOT
            .resolve("block-protocol/engine/src/main/java/io/modeldisk/protocol/engine/TaskState.java");
        Matcher diagram = Pattern.compile("<pre>\\n(.*?)\\n \\* </pre>", Pattern.DOTALL)
            .matcher(Files.readString(source));
        assertThat(diagram.find()).isTrue();
        String expected = diagram.group(1).lines().map(line -> line.replaceFirst("^ \\* ?", ""))
            .collect(Collectors.joining("\n"));

        assertThat(Pages.ROOT.resolve("docs/architecture.md")).content().contains(expected);
    }

    @Test
    void readmeHasFewerThan200Lines() throws IOException {
        assertThat(Files.readAllLines(Pages.ROOT.resolve("README.md"))).hasSizeLessThan(MAX_README_LINES);
    }

    /** In an earlier version, the option {@code --lease} accepted only a number, and rejected {@code 5s}. */
    @ParameterizedTest
    @MethodSource("timeOptions")
    void everyTimeOptionAcceptsAUnit(OptionSpec option) throws Exception {
        assertThat(option.type()).as(option.longestName()).isEqualTo(Duration.class);
    }

    static Stream<OptionSpec> timeOptions() throws IOException {
        return options(Main.commandLine())
            .filter(option -> option.paramLabel().matches("TIME|SECONDS|MS") || option.type() == Duration.class);
    }

    private static Stream<OptionSpec> options(CommandLine line) {
        return Stream.concat(line.getCommandSpec().options().stream(),
            line.getSubcommands().values().stream().flatMap(DocumentationTest::options));
    }
}
