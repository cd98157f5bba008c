package io.modeldisk.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.command.options.ServeCoordination;
import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class VersionTest {
    @Test
    void versionOptionShowsTheVersionsOfProgramProtocolAndFormats() throws IOException {
        StringWriter out = new StringWriter();
        CommandLine line = Main.commandLine().setOut(new PrintWriter(out, true));
        assertThat(line.execute("--version")).isZero();
        assertThat(out.toString()).startsWith("modeldisk " + ProgramVersion.TEXT + "\n")
            .contains("protocol " + ModelFacts.PROTOCOL + ", checkpoints of format 1, journals of format 1");
    }

    /** The coordinator refuses a process whose options differ from those of the model; the message contains both values. */
    @Test
    void allProcessesOfAModelMustHaveTheSameVersionOfTheProtocol() {
        ModelFacts facts = new ModelFacts("m", 4096, 4096, 0, 1, "sgd:lr=1", "asp", 1, "zeros");
        assertThat(ServeCoordination.options(facts)).containsEntry("version of the protocol", "" + ModelFacts.PROTOCOL);
    }
}
