package io.modeldisk.packages;

import io.modeldisk.command.Settings;
import io.modeldisk.platform.text.PlainText;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Writes one manual page in the language of man(7). */
final class ManPage {
    private final StringBuilder text = new StringBuilder();

    /**
     * Begins a page.
     *
     * @param summary the text after the name, without a full stop
     */
    ManPage(String name, int section, String version, String summary) {
        macro("TH", name.toUpperCase(Locale.ROOT), Integer.toString(section), "", "modeldisk " + version, "modeldisk");
        // Without hyphenation and adjustment, options and paths stay whole.
        text.append(".nh\n.ad l\n");
        section("NAME");
        text.append(roff(name)).append(" \\- ").append(roff(summary)).append('\n');
    }

    /** Returns the page of a command. */
    static String of(CommandSpec command, String version) {
        String name = command.qualifiedName("-");
        String[] description = command.usageMessage().description();
        ManPage page = new ManPage(name, 1, version, summary(description));
        page.section("SYNOPSIS");
        page.synopsis(command);
        page.section("DESCRIPTION");
        page.paragraphs(List.of(description));
        List<CommandLine> subcommands = command.subcommands().values().stream().distinct().toList();
        if (!subcommands.isEmpty()) {
            page.section("COMMANDS");
            subcommands.forEach(each -> page.entry(each.getCommandSpec().qualifiedName("-") + "(1)",
                summary(each.getCommandSpec().usageMessage().description()) + "."));
        }
        List<OptionSpec> options = command.options().stream().filter(each -> !each.hidden()).toList();
        if (!options.isEmpty() || !command.positionalParameters().isEmpty()) {
            page.section("OPTIONS");
            command.positionalParameters().forEach(page::argument);
            options.forEach(option -> page.entry(names(option), description(option)));
        }
        page.footer(command);
        page.section("ENVIRONMENT AND FILES");
        page.entry("MODELDISK_CONFIG",
            "The file of properties with values for options that are not on the command line. Default: "
                + Settings.DEFAULT_FILE + ".");
        options.stream().filter(each -> Settings.key(each) != null).findFirst()
            .ifPresent(each -> page.paragraphs(List.of("Each option is also a property (" + Settings.key(each)
                + ") and an environment variable (" + Settings.variable(Settings.key(each)) + ").")));
        page.section("SEE ALSO");
        CommandSpec parent = command.parent();
        page.line(parent == null
            ? "mount.modeldisk(8), systemctl(1)"
            : parent.qualifiedName("-") + "(1), /usr/share/doc/modeldisk/");
        return page.toString();
    }

    /** Returns the first sentence of a description, without its full stop. */
    static String summary(String... description) {
        String first = description.length == 0 ? "" : PlainText.format(description[0]);
        return first.replaceFirst("(?s)[.:] .*|[.]$", "");
    }

    /** Returns the description of an option, with its default value. */
    static String description(OptionSpec option) {
        String words = String.join(" ", option.description()).replace("${COMPLETION-CANDIDATES}", candidates(option));
        String value = Settings.defaultText(option);
        return PlainText.format(words) + (value == null || option.arity().max() == 0 ? "" : " Default: " + value + ".");
    }

    private static String candidates(OptionSpec option) {
        return option.completionCandidates() == null ? "" : String.join(", ", option.completionCandidates());
    }

    private static String names(OptionSpec option) {
        return Arrays.stream(option.names()).collect(Collectors.joining(", "))
            + (option.arity().max() == 0 ? "" : " " + option.paramLabel());
    }

    private void synopsis(CommandSpec command) {
        Stream<String> required = command.options().stream().filter(ArgSpec::required).map(ManPage::names);
        Stream<String> arguments = command.positionalParameters().stream().map(PositionalParamSpec::paramLabel);
        String rest = command.subcommands().isEmpty() ? "" : " COMMAND";
        text.append("\\fB").append(roff(command.qualifiedName())).append("\\fR ")
            .append(roff(Stream.concat(Stream.concat(required, Stream.of("[OPTION...]")), arguments)
                .collect(Collectors.joining(" ")) + rest))
            .append('\n');
    }

    private void argument(PositionalParamSpec argument) {
        String key = Settings.key(argument);
        entry(argument.paramLabel(), String.join(" ", argument.description())
            + (key == null ? "" : " Property: " + key + "."));
    }

    /** Adds the footer of the help text: its examples are indented lines, which stay as they are. */
    private void footer(CommandSpec command) {
        List<String> lines = Arrays.stream(command.usageMessage().footer()).map(line -> PlainText.format(line))
            .toList();
        if (lines.stream().allMatch(String::isBlank)) {
            return;
        }
        section("EXAMPLES");
        for (String line : lines) {
            if (line.startsWith(" ")) {
                macro("br");
                text.append("\\ \\ ").append(roff(line.strip())).append('\n');
            } else {
                paragraphs(List.of(line));
            }
        }
    }

    void section(String title) {
        macro("SH", title);
    }

    void paragraphs(List<String> paragraphs) {
        for (String paragraph : paragraphs) {
            if (!paragraph.isBlank()) {
                macro("PP");
                line(PlainText.format(paragraph));
            }
        }
    }

    /** Adds an entry of a list: a bold name with an indented description. */
    void entry(String name, String description) {
        macro("TP");
        text.append("\\fB").append(roff(name)).append("\\fR\n");
        line(description);
    }

    /** Adds lines that stay as they are. */
    void example(String lines) {
        macro("PP");
        macro("nf");
        lines.lines().forEach(this::line);
        macro("fi");
    }

    void line(String words) {
        text.append(roff(words)).append('\n');
    }

    private void macro(String name, String... arguments) {
        text.append('.').append(name);
        Stream.of(arguments).forEach(each -> text.append(" \"").append(roff(each)).append('"'));
        text.append('\n');
    }

    /** Escapes the characters that have a meaning in man(7), also a dot or an apostrophe at the start of a line. */
    private static String roff(String words) {
        String escaped = words.strip().replace("\\", "\\e").replace("-", "\\-").replace("\"", "\\(dq");
        return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
