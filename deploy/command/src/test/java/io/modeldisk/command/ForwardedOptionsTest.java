package io.modeldisk.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

final class ForwardedOptionsTest {
    private CommandLine main;
    private CommandLine run;

    @BeforeEach
    void createCommand() throws IOException {
        main = Main.commandLine();
        run = main.getSubcommands().get("run");
    }

    private ForwardedOptions parse(String... words) {
        return ForwardedOptions.parse(run, List.of(words));
    }

    @Test
    void optionGoesToTheCommandsThatHaveIt() {
        ForwardedOptions options = parse("--aggregator", "adam:lr=0.1", "--exchange=overlap", "--allow-other",
            "--shm-directory",
            "/d");
        assertThat(options.serve()).containsExactly("--aggregator=adam:lr=0.1", "--shm-directory=/d");
        assertThat(options.mount()).containsExactly("--exchange=overlap", "--allow-other", "--shm-directory=/d");
        assertThat(options.first()).isEmpty();
    }

    @Test
    void adminServerBelongsToOneShard() {
        ForwardedOptions options = parse("--admin", "127.0.0.1:0");
        assertThat(options.first()).containsExactly("--admin=127.0.0.1:0");
        assertThat(options.serve()).isEmpty();
        assertThat(options.mount()).isEmpty();
    }

    @Test
    void shardsOfferTheDatamoverOfTheMounts() {
        assertThat(parse("--datamover", "shm"))
            .isEqualTo(new ForwardedOptions(List.of(), List.of(), List.of("--datamover=shm")));
        assertThat(parse("--datamover=iser")).isEqualTo(
            new ForwardedOptions(List.of("--datamover=tcp,iser"), List.of(), List.of("--datamover=iser")));
    }

    @Test
    void lastValueOfAnOptionCounts() {
        ForwardedOptions options = parse("--model=a", "--model", "b");
        assertThat(options.serveValue(run, "--model")).isEqualTo("b");
        assertThat(options.serveValue(run, "--from")).isNull();
        assertThat(options.serveValue(run, "--aggregator")).isEqualTo("sgd:lr=0.1");
    }

    @ParameterizedTest
    @CsvSource({"--listen=1, run listens", "--shard, run starts all shards",
        "--coordinator, run starts no backups"})
    void optionThatRunSetsIsRefused(String word, String reason) {
        assertThatThrownBy(() -> parse(word)).isInstanceOf(ParameterException.class)
            .hasMessageContaining(" is not for run: ")
            .hasMessageContaining(reason.replace("run listens", "free ports"));
    }

    @Test
    void unknownOptionMissingValueAndProgramWithoutDashesAreRefused() {
        assertThatThrownBy(() -> parse("--blocksize=1")).hasMessageContaining("Unknown option: '--blocksize'");
        assertThatThrownBy(() -> parse("--block-size"))
            .hasMessageContaining("Missing required parameter for option '--block-size'");
        assertThatThrownBy(() -> parse("python3", "train.py"))
            .hasMessageContaining("'python3' is not an option; write --");
    }

    @Test
    void valuesAreCheckedBeforeAnythingStarts() {
        main.parseArgs("run", "--learners", "1");
        ForwardedOptions options = parse("--lease=soon");
        assertThatThrownBy(
            () -> options.check(run, List.of("--model=m", "--lease=soon"), List.of("modeldisk://h/m", "/")))
            .isInstanceOf(ParameterException.class).hasMessageContaining("'soon' is not a duration");
    }

    @Test
    void everyRefusedOptionIsAnOptionOfServeOrMount() {
        assertThat(ForwardedOptions.refused()).allSatisfy(name -> assertThat(
            main.getSubcommands().get("serve").getCommandSpec().findOption(name) != null
                || main.getSubcommands().get("mount").getCommandSpec().findOption(name) != null)
            .as(name).isTrue());
    }
}
