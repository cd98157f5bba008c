package io.modeldisk.bench.load;

/** Shows the current step of a benchmark on one line of the terminal. */
public final class Progress {
    private Progress() {}

    /** Shows a step in place of the previous step. An empty step clears the line. Does nothing without a terminal. */
    public static void show(String step) {
        if (System.console() != null && System.console().isTerminal()) {
            System.err.print("\r\033[K" + step);
        }
    }
}
