package io.modeldisk.platform.text;

/** Selects which occurrences of an event are logged, so a peer that repeats the event cannot fill the log. */
public final class LogThinning {
    private LogThinning() {}

    /** Returns whether to log event {@code number}, counted from 1. The events 1, 2, 4, 8 and so on are logged. */
    public static boolean isLogged(long number) {
        return Long.bitCount(number) == 1;
    }
}
