package io.modeldisk.platform.text;

/**
 * Selects which occurrences of an event are logged. A peer can repeat the event without limit, but cannot fill the log with it.
 */
public final class LogThinning {
    private LogThinning() {}

    /**
     * Returns whether to log an event. {@code number} is the number of the event, counted from 1. The events 1, 2, 4, 8 and so on
     * are logged.
     */
    public static boolean isLogged(long number) {
        return Long.bitCount(number) == 1;
    }
}
