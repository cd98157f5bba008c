package io.modeldisk.protocol.engine;

/**
 * The state of a slot and of the task in it. Only the owner of a state touches the slot and moves it on. Other threads ask a task
 * to end with an {@link EndReason}, and wake it with {@link IoTask#resume}.
 *
 * <pre>
 *   FREE ── command ──▶ RECEIVING
 *                         ├─ data to fetch ─▶ AWAITING_MEMORY ─ granted ─▶ AWAITING_DATA ─┐ all data here
 *                         ├─ read beside incoming data ─▶ QUEUED ─ its turn ──────────────┤
 *                         ├─ all data here ───────────────────────────────────────────────┤
 *                         │                                                               ▼
 *                         │       QUEUED ◀─ resumed ─ PARKED ◀─ has to wait ─────────── RUNNING ⇄ RESUMED
 *                         │                                                               │ done, or to end early
 *                         ├─ failed, or returns parameter data ───────────────────────────┤
 *                         │                                                               ▼
 *   FREE ◀────────────────┴─ rejected ◀─────── status sent ──────────────────────────── ENDING ⇄ PUTTING
 * </pre>
 *
 * RESUMED: the logical unit has resumed the task before it was parked. PUTTING: the put is left to the device, until it has ended
 * or is taken over. A task that waits for memory or data may also fail (to ENDING) or be aborted (to FREE); an aborted task that
 * runs or is parked goes to FREE from RUNNING.
 */
enum TaskState {
    /** No task. Owner: the {@link CommandWindow}. */
    FREE,
    /** The command is decoded and its immediate data is read. Owner: the receiver. */
    RECEIVING,
    /** In the queue of the {@link BufferPool}, its owner; after the grant in the responder's schedule, its owner then. */
    AWAITING_MEMORY,
    /** The datamover fetches the data. Owner: the receiver, which is notified of its end. */
    AWAITING_DATA,
    /** In the schedule of the responder, its owner. */
    QUEUED,
    /** The logical unit is called, or data is put. Owner: the thread that does this, the receiver or the responder. */
    RUNNING,
    /** As RUNNING, but resumed before it was parked. */
    RESUMED,
    /** Owner: the logical unit. */
    PARKED,
    /** The status is sent and the slot given back. Owner: the thread that does this. */
    ENDING,
    /** The device sends the data and the status, and still reads the memory. Owner: the thread that takes the put. */
    PUTTING;

    /** Whether a task may go from this state to another. */
    boolean mayBecome(TaskState next) {
        return switch (this) {
            case FREE -> next == RECEIVING;
            case RECEIVING -> next == AWAITING_MEMORY || next == AWAITING_DATA || next == QUEUED || next == RUNNING
                || next == ENDING || next == FREE;
            case AWAITING_MEMORY -> next == AWAITING_DATA || next == ENDING || next == FREE;
            case AWAITING_DATA -> next == RUNNING || next == ENDING || next == FREE;
            case QUEUED -> next == RUNNING;
            case RUNNING -> next == RESUMED || next == PARKED || next == ENDING || next == FREE;
            case RESUMED -> next == RUNNING || next == ENDING || next == FREE;
            case PARKED -> next == QUEUED || next == RUNNING;
            case ENDING -> next == PUTTING || next == FREE;
            case PUTTING -> next == ENDING;
        };
    }

    /** Whether the initiator's data has not come yet. */
    boolean awaitsData() {
        return this == AWAITING_MEMORY || this == AWAITING_DATA;
    }
}
