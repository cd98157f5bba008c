package io.modeldisk.striping;

/**
 * The states of the call of a {@link StripedTransfer}.
 *
 * <pre>
 *            begin                 detach: all parts are in flight
 *   ENDED ──────────> ATTACHED ──────────────────────────────────────> DETACHED
 *     ^                 │  ^                                               │
 *     └────── end ──────┘  └── attach: the call needs a thread ────────────┘
 * </pre>
 *
 * <p>ATTACHED: one thread runs the call. DETACHED: the shards execute its commands, and no thread waits for them; only a call
 * that was {@linkplain StripedTransfer#start started} can be detached. A thread that reports a result, a cancellation or a
 * timeout attaches the call, if the call needs a thread again, because a part is to be sent again, no part is in flight, or the
 * call must stop. That thread ends the call if all parts were moved, and otherwise passes it to a new thread.
 */
enum CallState {
    ENDED, ATTACHED, DETACHED;

    /** Returns the next state. */
    CallState to(CallState next) {
        boolean allowed = this == ATTACHED ? next != ATTACHED : next == ATTACHED;
        if (!allowed) {
            throw new IllegalStateException("a call cannot change from " + this + " to " + next);
        }
        return next;
    }
}
