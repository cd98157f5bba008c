package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The result of a command.
 *
 * @param command the command line
 * @param status the exit status
 * @param output the standard output and standard error
 */
record Result(String command, int status, String output) {
    /** Returns the output. Fails if the exit status is not 0. */
    String succeeded() {
        assertThat(status).as(this::toString).isZero();
        return output;
    }

    /** Fails if the exit status is 0, or if the output does not contain all these texts. */
    void failed(String... texts) {
        assertThat(status).as(this::toString).isNotZero();
        assertThat(output).contains(texts);
    }

    /** Fails if the exit status is not {@code expected}, or if the output does not contain all these texts. */
    void failed(int expected, String... texts) {
        assertThat(status).as(this::toString).isEqualTo(expected);
        assertThat(output).contains(texts);
    }

    @Override
    public String toString() {
        return command + "\nexited with status " + status + "; its output is:\n" + output;
    }
}
