package io.modeldisk.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

final class OptionsTest {
    /** Runs a command with wrong arguments, and returns its error output. */
    private static String refusal(String command) throws IOException {
        StringWriter errors = new StringWriter();
        assertThat(Main.commandLine().setErr(new PrintWriter(errors)).execute(command.split(" "))).isEqualTo(2);
        return errors.toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve --model m --size 1m --lease 200ms --ping-interval 2min",
        "serve --model m --size 1m --lease 0.5 --ping-interval 15",
        "mount modeldisk://h:1/m d --wait 1h --reconnect 30s"})
    void durationOptionIsParsedWithAndWithoutAUnit(String command) throws IOException {
        CommandLine line = Main.commandLine();

        assertThatCode(() -> line.parseArgs(command.split(" "))).doesNotThrowAnyException();
    }

    /** The units of the package have --restartable, so the requests of learners wait while an upgrade restarts the shards. */
    @ParameterizedTest
    @CsvSource({"'', PT10S", "--restartable, PT10M", "--restartable --reconnect 30s, PT30S", "--reconnect 1min, PT1M"})
    void restartableMountReconnectsForLongerThanAnUpgrade(String options, Duration expected) throws IOException {
        CommandLine line = Main.commandLine();
        line.parseArgs(("mount modeldisk://h:1/m d --foreground " + options).strip().split(" "));

        MountCommand mount = line.getSubcommands().get("mount").getCommand();
        assertThat(mount.reconnectTimeout()).isEqualTo(expected);
    }

    @Test
    void errorForAMalformedDurationNamesTheOptionAndGivesExamples() throws IOException {
        assertThat(refusal("serve --model m --lease soon"))
            .contains("--lease", "'soon' is not a duration; write it like 5s, 200ms, 2min");
    }

    @Test
    void argumentThatBeginsWithAnAtSignIsNotReplacedByTheLinesOfAFile(@TempDir Path directory) throws IOException {
        String argument = "@" + Files.writeString(directory.resolve("arguments"), "--json d\n");
        assertThat(Main.commandLine().parseArgs("status", argument).subcommand().matchedPositionalValue(0, ""))
            .isEqualTo(argument);
    }

    /** Without a fallback value, picocli sets a flag to the opposite of its default, which can come from the settings. */
    @Test
    void flagThatIsSetInTheSettingsAndOnTheCommandLineIsSet() throws IOException {
        List<OptionSpec> flags = Main.commandLine().getSubcommands().values().stream()
            .flatMap(command -> command.getCommandSpec().options().stream())
            .filter(option -> option.type() == boolean.class && !option.usageHelp() && !option.versionHelp()).toList();
        assertThat(flags).extracting(OptionSpec::longestName).contains("--read-only", "--insecure", "--json",
            "--foreground");
        assertThat(flags).allSatisfy(flag -> assertThat(flag.fallbackValue()).as(flag.longestName()).isEqualTo("true"));
    }

    @Test
    void commandLineForOneSubcommandShowsTheSameHelpAsTheCompleteCommandLine() throws IOException {
        CommandLine all = Main.commandLine();
        for (String name : all.getSubcommands().keySet()) {
            CommandLine line = Main.commandLine("--version", name);

            assertThat(line.getSubcommands().get(name).getUsageMessage())
                .isEqualTo(all.getSubcommands().get(name).getUsageMessage());
            assertThat(line.getUsageMessage()).isEqualTo(all.getUsageMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--exchange overlap", "--exchange sync", "--pull after-push", "--pull adaptive",
        "--on-rollback continue", "--learner l"})
    void optionForLearnersIsRefusedWithReadOnly(String option) throws IOException {
        assertThat(refusal("mount modeldisk://h:1/m d --read-only " + option)).startsWith("modeldisk mount: " + option
            + " is for learners: a mount with --read-only follows the model and pushes no gradients; leave the option out");
    }

    @Test
    void learnerWithANameReservedForObserversIsRefused() throws IOException {
        assertThat(refusal("mount modeldisk://h:1/m d --learner Status-1"))
            .startsWith("modeldisk mount: --learner Status-1 is reserved: the name of a learner must not"
                + " begin with status-; choose another name");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        top modeldisk://h:1/m --once       | modeldisk: 'top' was removed: `watch modeldisk status ADDRESS`
        doctor --collect report.zip        | modeldisk doctor: '--collect' was removed: 'What to send
        doctor --collect=report.zip --json | modeldisk doctor: '--collect' was removed: 'What to send
        doctor --json                      | modeldisk doctor: '--json' was removed: the exit status
        mount modeldisk://h:1/m d --trace t | modeldisk mount: '--trace' was removed: copy DIR/trace.json
        checkpoint modeldisk://h:1/m --to d | modeldisk checkpoint: '--to' was removed: copy the printed folder""")
    void removedCommandOrOptionIsAnsweredWithItsReplacement(String command, String message) throws IOException {
        assertThat(refusal(command)).startsWith(message).hasLineCount(1);
    }
}
