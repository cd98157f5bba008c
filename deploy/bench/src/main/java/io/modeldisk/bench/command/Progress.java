package io.modeldisk.bench.command;

/** A line on the terminal with the current step of a benchmark. */
final class Progress {
    private Progress() {}

    /** Replaces the line with a step. An empty step clears the line. Without a terminal, nothing is printed. */
    static void show(String step) {
        if (System.console() != null && System.console().isTerminal()) {
            System.err.print("\r\033[K" + step);
        }
    }
}
