package io.modeldisk.protocol.engine;

/**
 * The state of a slot and of its task. Each state has an owner: a thread or a component. Only the owner of the current state is
 * allowed to use the slot and to change the state. Other threads set an {@link EndReason} to end a task early, and wake a parked
 * task with {@link IoTask#resume}.
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
 * A task is in PUTTING until its last Put_Data completes or another thread claims the task. A task that waits for memory or data
 * can also change to ENDING if it fails, and to FREE if it is aborted. An aborted task in RUNNING changes to FREE. An aborted
 * task in PARKED changes to RUNNING and then to FREE.
 */
enum TaskState {
    /** The slot contains no task. Owner: the {@link CommandWindow}. */
    FREE,
    /** The receiver thread decodes the command and receives its immediate data. Owner: the receiver thread. */
    RECEIVING,
    /** The task waits for memory. Owner: the {@link BufferPool}; after the memory was granted, the responder thread. */
    AWAITING_MEMORY,
    /** The datamover fetches the data. Owner: the receiver thread, which is notified when the data has arrived. */
    AWAITING_DATA,
    /** The task is scheduled for the responder thread. Owner: the responder thread. */
    QUEUED,
    /** The target runs the command or sends the data of a read. Owner: the receiver thread or the responder thread. */
    RUNNING,
    /** The task runs, and was resumed before it was parked. Owner: the receiver thread or the responder thread. */
    RESUMED,
    /** The task waits for its logical unit. Owner: the logical unit. */
    PARKED,
    /** A thread sends the status and then frees the slot. Owner: the thread that sends the status. */
    ENDING,
    /** The RDMA device sends the last piece of data and the status. Owner: the device, until a thread claims the task. */
    PUTTING;

    /** True if a task is allowed to change from this state to {@code next}. */
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

    /** True if a task in this state still waits for data from the initiator. */
    boolean awaitsData() {
        return this == AWAITING_MEMORY || this == AWAITING_DATA;
    }
}
