package io.modeldisk.doctor.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProgramTest {
    @Test
    void endOfALongOutputIsKeptAndTheCutIsMarked() throws IOException {
        String output = Program.output("seq", "1", "1000000");

        assertThat(output).startsWith("[").endsWith("\n999999\n1000000\n").hasSizeBetween(1 << 19, Text.MAX_BYTES);
        assertThat(output.lines().findFirst().orElseThrow()).matches(
            "\\[\\d+ bytes and the rest of their last line are left out]");
        assertThat(output.lines().skip(1).findFirst().orElseThrow()).hasSize(6);
    }

    @Test
    void programThatPrintsWithoutEndIsKilledAndItsLastLinesAreKept() throws IOException {
        String output = Program.output(Duration.ofSeconds(1), "yes", "a line of a program that does not end");

        assertThat(output).startsWith("[").contains("\na line of a program that does not end\n")
            .hasSizeBetween(1 << 19, Text.MAX_BYTES);
    }

    @Test
    void shortOutputIsWhole() throws IOException {
        assertThat(Program.output("seq", "1", "3")).isEqualTo("1\n2\n3\n");
    }

    @Test
    void programWithoutOutputFails() {
        assertThatThrownBy(() -> Program.output("true")).isInstanceOf(IOException.class)
            .hasMessage("true has printed nothing");
    }
}
