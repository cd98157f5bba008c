package io.modeldisk.protocol.initiator;

/**
 * Detects that a target has stalled: for the command timeout it has taken no data of a PDU that is being sent, has not answered
 * a command, or has accepted no command of a thread that waits to send one. It compares the state of the session from one check
 * to the next, so that the data path stores no times. For one thread.
 */
final class SessionWatchdog {
    private final long limitNs;
    private final IoRequest[] requests;
    private final Watched sending = new Watched();
    private final Watched room = new Watched();
    private final Watched[] commands;

    /** One activity, described by a number that changes when it makes progress. */
    private static final class Watched {
        private long number;
        private long sinceNs;

        /** Whether the number has been the same for longer than the limit; 0 stands for no activity. */
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
     * Checks once.
     *
     * @param sendingSince a number that stays the same while one PDU is being sent; 0 while no PDU is being sent
     * @param awaitedProgress see {@link SessionNumbers#awaitedProgress}
     * @return how the target has stalled; null if it has not
     */
    String stall(long nowNs, long sendingSince, int awaitedProgress) {
        String stall = null;
        if (sending.isStuck(sendingSince, nowNs, limitNs)) {
            stall = "it has taken no data";
        }
        for (int i = 0; i < requests.length; i++) {
            IoRequest request = requests[i];
            long number = request.isInFlight() ? 1L << 32 | request.initiatorTaskTag() : 0;
            if (commands[i].isStuck(number, nowNs, limitNs)) {
                stall = "it has not answered a command";
            }
        }
        if (room.isStuck(awaitedProgress, nowNs, limitNs)) {
            stall = "it has accepted no further command";
        }
        return stall;
    }
}
