package io.modeldisk.docs;

import io.modeldisk.command.settings.Settings;
import io.modeldisk.mount.file.Attribute;
import io.modeldisk.mount.file.MountEntry;
import io.modeldisk.protocol.dialect.Metric;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Generates docs/reference.md from picocli's model of the commands and from the enums of files, attributes and metrics. */
final class Reference {
    private static final String HEAD = """
        # Reference

        Generated from the code. To renew it:

        ```sh
        %s
        ```

        - [Commands and settings](#commands-and-settings)
        - [Exit statuses](#exit-statuses)
        - [Files of a mount](#files-of-a-mount)
        - [Attributes of a mount](#attributes-of-a-mount)
        - [Metrics](#metrics)

        ## Commands and settings

        Each option can be set in three ways. The command line overrides the environment. The environment
        overrides the file that `MODELDISK_CONFIG` names (by default `%s`).

        | way | example |
        |---|---|
        | command line | `modeldisk serve --block-size 64KiB` |
        | environment: prefix, command and option in capitals, joined by `_` | `MODELDISK_SERVE_BLOCK_SIZE=64KiB` |
        | file: the command and the option without the leading `--`, joined by a dot | `serve.block-size=64KiB` |

        BYTES is written `4096`, `64k`, `256KiB`, `1.5GB`. TIME is written `5s`, `200ms`, `2min`. A number without a unit is in
        seconds, unless the description of the option names another unit. The column "setting" has the property and the
        environment variable of the option.

        Three variables belong to no option: `MODELDISK_CONFIG` names the settings file. `MODELDISK_LOG_LEVEL` (`error`, `warn`,
        `info`, `debug`) sets how much is logged. `MODELDISK_ZOOKEEPER_LOG_LEVEL` does the same for ZooKeeper.

        A service of systemd gets its secrets as a credential: without another setting, the credential `secrets` is the file of
        `--secrets`.
        """;

    private final StringBuilder text = new StringBuilder();
    /**
     * The options of all commands. The key is the name and description of an option, so options that several commands share are
     * in one list.
     */
    private final Map<String, List<OptionSpec>> same = new LinkedHashMap<>();

    private Reference() {}

    /** Returns the text of docs/reference.md. */
    static String of(CommandLine line, String renewCommand) {
        Reference reference = new Reference();
        reference.text.append(HEAD.formatted(renewCommand, Settings.DEFAULT_FILE));
        List<CommandSpec> commands = commands(line.getCommandSpec());
        commands.forEach(command -> options(command)
            .forEach(option -> reference.same.computeIfAbsent(key(option), _ -> new ArrayList<>()).add(option)));
        reference.shared();
        commands.forEach(reference::command);
        reference.exitStatuses(commands);
        reference.files();
        reference.metrics();
        return reference.text.toString();
    }

    /** Returns a command and its subcommands in the order of the help text, without the main command. */
    private static List<CommandSpec> commands(CommandSpec command) {
        List<CommandSpec> all = new ArrayList<>();
        if (command.parent() != null) {
            all.add(command);
        }
        // Picocli lists a command with an alias twice.
        command.subcommands().values().stream().map(CommandLine::getCommandSpec).distinct()
            .filter(sub -> !sub.usageMessage().hidden()).forEach(sub -> all.addAll(commands(sub)));
        return all;
    }

    private static List<OptionSpec> options(CommandSpec command) {
        return command.options().stream().filter(each -> !each.usageHelp() && !each.versionHelp() && !each.hidden())
            .toList();
    }

    private static String key(OptionSpec option) {
        return option.longestName() + String.join(" ", option.description());
    }

    /** Appends the table of the options that several commands share. */
    private void shared() {
        text.append("""

            ### Options of several commands

            | option | commands | description |
            |---|---|---|
            """);
        same.values().stream().filter(each -> each.size() > 1)
            .forEach(each -> text.append("| `%s` | %s | %s |\n".formatted(name(each.getFirst()),
                each.stream()
                    .map(option -> "`" + option.command().qualifiedName().replaceFirst("^modeldisk ", "") + "`")
                    .collect(Collectors.joining(", ")),
                description(candidates(each.getFirst())))));
    }

    private void command(CommandSpec command) {
        text.append("\n### ").append(command.qualifiedName()).append("\n\n");
        for (String line : command.usageMessage().description()) {
            text.append(cell(line.formatted())).append('\n');
        }
        List<PositionalParamSpec> parameters = command.positionalParameters().stream().filter(each -> !each.hidden())
            .toList();
        if (!parameters.isEmpty()) {
            text.append("\n| argument | description |\n|---|---|\n");
            parameters.forEach(each -> text
                .append("| `%s` | %s%s |\n".formatted(code(each.paramLabel()), description(each.description()),
                    setting(each))));
        }
        List<OptionSpec> options = options(command);
        if (!options.isEmpty()) {
            text.append("\n| option | default | setting | description |\n|---|---|---|---|\n");
            options.forEach(this::option);
        }
    }

    /** Returns a sentence with the setting of an argument; an empty text if the argument has no setting. */
    private static String setting(PositionalParamSpec argument) {
        String key = Settings.key(argument);
        return key == null ? "" : " Setting: `%s`, `%s`.".formatted(key, Settings.variable(key));
    }

    private void option(OptionSpec option) {
        String setting = Settings.key(option);
        text.append("| `%s` | %s | `%s`<br>`%s` | %s |\n".formatted(name(option), defaultValue(option), setting,
            Settings.variable(setting), same.get(key(option)).size() > 1
                ? "See [options of several commands](#options-of-several-commands)."
                : description(candidates(option))));
    }

    /** Returns the name of an option and the label of its value. */
    private static String name(OptionSpec option) {
        return option.longestName() + (option.arity().max() == 0 ? "" : " " + code(option.paramLabel()));
    }

    private static String candidates(OptionSpec option) {
        String words = String.join(" ", option.description());
        if (option.completionCandidates() == null) {
            return words;
        }
        return words.replace("${COMPLETION-CANDIDATES}",
            String.join(", ", option.completionCandidates()).toLowerCase(Locale.ROOT));
    }

    private static String defaultValue(OptionSpec option) {
        String value = Settings.defaultText(option);
        if (value != null) {
            return "`" + code(value) + "`";
        }
        return option.required() ? "required" : "";
    }

    private void exitStatuses(List<CommandSpec> commands) {
        text.append("""

            ## Exit statuses

            A command that fails with status 1 can succeed later. With status 2, it fails again until somebody changes its
            settings, so the systemd units do not restart a service with this status (`RestartPreventExitStatus=2`). Every
            command exits with 0 after `--help` and `--version`.

            | command | status | meaning |
            |---|---|---|
            """);
        commands.forEach(command -> command.usageMessage().exitCodeList()
            .forEach((status, meaning) -> text.append("| `%s` | %s | %s |\n".formatted(command.qualifiedName(),
                status, cell(meaning)))));
    }

    private void files() {
        text.append("""

            ## Files of a mount

            | file | description |
            |---|---|
            """);
        Stream.of(MountEntry.values())
            .forEach(
                entry -> text.append("| `DIR/%s` | %s |\n".formatted(entry.fileName(), cell(entry.description()))));
        text.append("""

            ## Attributes of a mount

            Extended attributes of `DIR/model` and of `DIR`, read by getxattr(2) or `getfattr -d DIR/model`.

            | attribute | unit | description |
            |---|---|---|
            """);
        Stream.of(Attribute.values()).forEach(attribute -> text
            .append("| `%s` | %s | %s |\n".formatted(attribute.attributeName(), attribute.unit(),
                cell(attribute.description()))));
    }

    private void metrics() {
        text.append("""

            ## Metrics

            The first column is the path of a metric in `DIR/status.json`, and the second its name at `/metrics` of `--admin`.
            `modeldisk status --json` has the members of `shards[]` too, and `/status` of `--admin` has all. A counter starts at 0
            and only grows, until its process ends or a shard goes back to a checkpoint. A gauge may rise and fall. A flag is true
            or a reason in words if it is set, and else false or absent.

            At `/metrics`, all durations are in seconds and all sizes in bytes. A flag is 1 or 0, and a text is a label. The
            metrics of a process have no labels, those of a model the label `model`, of a shard `model` and `shard`, of a learner
            and a backup also `learner` or `backup`, and of a mount `model` and `learner`. The process of a mount leaves out those
            of its shards.

            | metric | at `/metrics` | unit | kind | description |
            |---|---|---|---|---|
            """);
        Stream.of(Metric.values())
            .forEach(metric -> text.append("| `%s` | %s | %s | %s | %s |\n".formatted(metric.path(),
                metric.kind() == Metric.Kind.TEXT
                    ? "label `%s` of `%s`".formatted(metric.label(), metric.prometheusName())
                    : "`" + metric.prometheusName() + "`",
                metric.unit().symbol(), metric.kind().name().toLowerCase(Locale.ROOT), cell(metric.description()))));
    }

    private static String description(String... lines) {
        return cell(String.join(" ", lines));
    }

    /** Escapes text for a cell of a table. */
    private static String cell(String words) {
        return words.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;").strip();
    }

    /** Escapes code for a cell of a table. */
    private static String code(String words) {
        return words.replace("|", "\\|");
    }
}
