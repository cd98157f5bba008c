package io.modeldisk.striping;

/**
 * The states of a call that a {@link StripedTransfer} runs.
 *
 * <pre>
 *            begin                 detach: all parts are in flight
 *   ENDED ──────────> ATTACHED ──────────────────────────────────────> DETACHED
 *     ^                 │  ^                                               │
 *     └────── end ──────┘  └── attach: the call needs a thread ────────────┘
 * </pre>
 *
 * <p>ATTACHED: one thread runs the call. DETACHED: the shards execute the commands of the call, and no thread waits for these
 * commands. Only a call that was {@linkplain StripedTransfer#start started} can be detached. A detached call needs a thread again
 * if a part must be sent again, if no part is in flight, or if the call must stop. The thread that reports the result, the
 * cancellation or the timeout then attaches the call. This thread ends the call if all parts were moved, and otherwise passes the
 * call to a new thread.
 */
enum CallState {
    ENDED, ATTACHED, DETACHED;

    /** Checks that a call can change from this state to {@code next}, and returns {@code next}. */
    CallState to(CallState next) {
        boolean allowed = this == ATTACHED ? next != ATTACHED : next == ATTACHED;
        if (!allowed) {
            throw new IllegalStateException("a call cannot change from " + this + " to " + next);
        }
        return next;
    }
}
