package io.modeldisk.protocol.initiator;

/**
 * Detects a stalled target. A target has stalled if, for the command timeout, it has not received the data of a PDU that is being
 * sent, has not responded to a command, or has accepted no command although a thread waits to send one. The watchdog compares the
 * state of the session at two checks, so the threads that send and receive need not store times. Not thread-safe.
 */
final class SessionWatchdog {
    private final long limitNs;
    private final IoRequest[] requests;
    private final Watched sending = new Watched();
    private final Watched room = new Watched();
    private final Watched[] commands;

    /** One activity, represented by a number that changes when the activity makes progress. */
    private static final class Watched {
        private long number;
        private long sinceNs;

        /** Returns whether the number has not changed for longer than the limit. The number 0 means that there is no activity. */
        boolean isStuck(long now, long nowNs, long limitNs) {
            if (now == 0 || now != number) {
                number = now;
                sinceNs = nowNs;
                return false;
            }
            return nowNs - sinceNs > limitNs;
        }
    }

    SessionWatchdog(IoRequest[] requests, long limitNs) {
        this.requests = requests;
        this.limitNs = limitNs;
        this.commands = new Watched[requests.length];
        for (int i = 0; i < commands.length; i++) {
            commands[i] = new Watched();
        }
    }

    /**
     * Checks all activities of the session once.
     *
     * @param sendingSince a number that stays the same while one PDU is being sent; 0 while no PDU is being sent
     * @param awaitedProgress the result of {@link SessionNumbers#awaitedProgress}
     * @return the reason why the target counts as stalled; null if it has not stalled
     */
    String stall(long nowNs, long sendingSince, int awaitedProgress) {
        String stall = null;
        if (sending.isStuck(sendingSince, nowNs, limitNs)) {
            stall = "the target has received no data";
        }
        for (int i = 0; i < requests.length; i++) {
            IoRequest request = requests[i];
            long number = request.isInFlight() ? 1L << 32 | request.initiatorTaskTag() : 0;
            if (commands[i].isStuck(number, nowNs, limitNs)) {
                stall = "the target has not responded to a command";
            }
        }
        if (room.isStuck(awaitedProgress, nowNs, limitNs)) {
            stall = "the target has accepted no further command";
        }
        return stall;
    }
}
