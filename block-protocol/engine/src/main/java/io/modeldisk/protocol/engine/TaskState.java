package io.modeldisk.protocol.engine;

/**
 * The state of a slot and of the task in it. The owner of a state alone touches the slot and moves it on; other threads ask a
 * task to end with an {@link EndReason} and wake it with {@link IoTask#resume}.
 *
 * <pre>
 *      FREE ◀──────────────────────────────────────────── status sent, or aborted ──────────┐
 *       │ command in order                                                                  │
 *       ▼           data to fetch                      memory granted                       │
 *   RECEIVING ─────────────────────▶ AWAITING_MEMORY ──────────────────▶ AWAITING_DATA      │
 *    │  │  └──── read, data comes in ───▶ QUEUED ◀───────────────┐             │            │
 *    │  │                                   │ its turn           │ resumed     │ all here   │
 *    │  │ all data here                     ▼       must wait    │             │            │
 *    │  └─────────────────────────────▶ RUNNING ─────────────▶ PARKED          │            │
 *    │                                  ▲ │   ▲ └─ RESUMED ◀─ resumed early    │            │
 *    │                                  │ │   └──────┘                         │            │
 *    │                                  └─┼────────────────────────────────────┘            │
 *    │ failed, or parameter data          ▼ done, or to end early                           │
 *    └──────────────────────────────▶ ENDING ───────────────────────────────────────────────┘
 *                                      │ ▲
 *                 left to the device   ▼ │ put ended, or taken over
 *                                    PUTTING
 * </pre>
 *
 * A task that waits for memory or data may also fail (ENDING) or be aborted (FREE), one that runs or is parked may be aborted.
 */
enum TaskState {
    /** No task. Owner: the {@link CommandWindow}. */
    FREE,
    /** The command is decoded and its immediate data is read. Owner: the receiver. */
    RECEIVING,
    /** In the {@link BufferPool}'s line; from the grant on in the responder's schedule, whose it is. */
    AWAITING_MEMORY,
    /** The datamover fetches the data; its end is the receiver's. */
    AWAITING_DATA,
    /** In the responder's schedule. */
    QUEUED,
    /** The logical unit is called, or data is put. Owner: the thread that does so, the receiver or the responder. */
    RUNNING,
    /** As RUNNING; its logical unit has resumed it before it was parked. */
    RESUMED,
    /** Owner: the logical unit. */
    PARKED,
    /** The status goes out and the slot is given back. Owner: the thread that does so. */
    ENDING,
    /** The device sends the data and the status, and reads the memory. Owned by the thread that takes the put's end. */
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
