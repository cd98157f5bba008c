package io.modeldisk.protocol.engine;

/**
 * The state of a slot and of its task. Only the owner of the current state may use the slot and change the state. Other threads
 * set an {@link EndReason} to end a task early, and wake a parked task with {@link IoTask#resume}.
 *
 * <pre>
 *   FREE ── command ──▶ RECEIVING
 *                         ├─ data to fetch ─▶ AWAITING_MEMORY ─ granted ─▶ AWAITING_DATA ─┐ data complete
 *                         ├─ read while data arrives ───▶ QUEUED ─ its turn ──────────────┤
 *                         ├─ data complete ───────────────────────────────────────────────┤
 *                         │                                                               ▼
 *                         │       QUEUED ◀─ resumed ─ PARKED ◀─ must wait ───────────── RUNNING ⇄ RESUMED
 *                         │                                                               │ done, or must end early
 *                         ├─ failed, or returns parameter data ───────────────────────────┤
 *                         │                                                               ▼
 *   FREE ◀────────────────┴─ rejected ◀─────── status sent ──────────────────────────── ENDING ⇄ PUTTING
 * </pre>
 *
 * RESUMED: the task was resumed before it was parked. PUTTING: the device performs the put until the put completes or another
 * thread claims it. A task that waits for memory or data may also change to ENDING if it fails, and to FREE if it is aborted. An
 * aborted task that runs or is parked changes from RUNNING to FREE.
 */
enum TaskState {
    /** The slot has no task. Owner: the {@link CommandWindow}. */
    FREE,
    /** The command is decoded and its immediate data is read. Owner: the receiver. */
    RECEIVING,
    /** The task waits for memory. Owner: the {@link BufferPool}; after the grant, the responder. */
    AWAITING_MEMORY,
    /** The datamover fetches the data. Owner: the receiver, which is notified when the data has arrived. */
    AWAITING_DATA,
    /** The task waits in the responder's schedule. Owner: the responder. */
    QUEUED,
    /** The logical unit runs the command, or data is put. Owner: the thread that does this, the receiver or the responder. */
    RUNNING,
    /** Like RUNNING, but the task was resumed before it was parked. */
    RESUMED,
    /** The task waits for its logical unit. Owner: the logical unit. */
    PARKED,
    /** The status is sent and the slot is freed. Owner: the thread that sends the status. */
    ENDING,
    /** The device sends data and status from the task's memory. Owner: the thread that claims the put. */
    PUTTING;

    /** Whether a task may change from this state to {@code next}. */
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

    /** Whether a task in this state waits for data of the initiator. */
    boolean awaitsData() {
        return this == AWAITING_MEMORY || this == AWAITING_DATA;
    }
}
