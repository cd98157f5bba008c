package io.modeldisk.platform.text;

/** Thins the log lines of an event that a peer can repeat without limit, so the peer cannot fill the log. */
public final class LogThinning {
    private LogThinning() {}

    /** Returns whether an event is logged. {@code number} counts the events from 1: number 1, 2, 4, 8 and so on are logged. */
    public static boolean isLogged(long number) {
        return Long.bitCount(number) == 1;
    }
}
