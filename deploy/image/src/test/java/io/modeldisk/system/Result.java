package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The end of a command.
 *
 * @param command what was run
 * @param status its exit status
 * @param output its standard output and error
 */
record Result(String command, int status, String output) {
    /** Its output, after making sure that it succeeded. */
    String succeeded() {
        assertThat(status).as(this::toString).isZero();
        return output;
    }

    @Override
    public String toString() {
        return command + "\nended with " + status + " and said:\n" + output;
    }
}
