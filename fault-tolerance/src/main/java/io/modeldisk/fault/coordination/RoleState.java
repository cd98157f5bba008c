package io.modeldisk.fault.coordination;

/**
 * The states of a {@link ShardRole}.
 *
 * <pre>
 *   STARTING ─ registered ─▶ STANDBY ─ won a new epoch ─▶ PRIMARY ◀─┐
 *                            ▲  ▲ │                       ▲│   │    │ ZooKeeper answers, and
 *                   withdrawn│  │ │offered       accepted ││   │    │ the epoch is still the last
 *                            │  │ ▼                       ││   ▼    │
 *                          SUCCESSOR ─────────────────────┘│ FENCED ┘
 *                               │                          │   │
 *                               └─ another process has won ┴───┘
 *
 *   PRIMARY becomes FENCED when ZooKeeper was silent for too long, or when the session has ended
 *   every state ─ close() ─▶ CLOSED
 * </pre>
 */
public enum RoleState {
    /** The process is not registered yet. */
    STARTING,
    /** The process waits until it may take over. */
    STANDBY,
    /** The primary offers the next epoch to this process, which may accept it when it can serve. */
    SUCCESSOR,
    /** The process may serve the shard in its epoch. */
    PRIMARY,
    /** The process must not serve, but its epoch might still be the last one. */
    FENCED,
    /** The role has ended. */
    CLOSED;

    boolean canBecome(RoleState next) {
        return switch (this) {
            case STARTING -> next == STANDBY || next == CLOSED;
            case STANDBY -> next == SUCCESSOR || next == PRIMARY || next == CLOSED;
            case SUCCESSOR -> next == STANDBY || next == PRIMARY || next == CLOSED;
            case PRIMARY -> next == FENCED || next == STANDBY || next == CLOSED;
            case FENCED -> next == PRIMARY || next == STANDBY || next == CLOSED;
            case CLOSED -> next == CLOSED;
        };
    }
}
