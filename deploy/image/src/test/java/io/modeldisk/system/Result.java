package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The result of a command.
 *
 * @param command the command line
 * @param status its exit status
 * @param output its standard output and error
 */
record Result(String command, int status, String output) {
    /** The output; fails if the exit status is not 0. */
    String succeeded() {
        assertThat(status).as(this::toString).isZero();
        return output;
    }

    @Override
    public String toString() {
        return command + "\nended with " + status + "; its output:\n" + output;
    }
}
