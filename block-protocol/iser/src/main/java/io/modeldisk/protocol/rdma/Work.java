package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvWC.IbvWcStatus;

/**
 * A work request of a queue pair. One object serves many requests, one after another, and each such use is called a turn. A
 * completion refers to the work request by its number, because most other fields of a failed completion are not valid. Guarded by
 * the lock of its {@link QueuePair}.
 */
public class Work {
    private final String name;
    private long id;
    private final boolean arrives;
    private int room;
    private boolean busy;
    private int turn;
    private int bytes;

    /**
     * @param name the action of the work request, for messages, such as {@code sending a message}
     * @param arrives whether {@link QueuePair#awaitArrival} returns the work request after its completion
     */
    public Work(String name, boolean arrives) {
        this.name = name;
        this.arrives = arrives;
    }

    /** Returns the number of the work request in its queue pair. */
    public final long id() {
        return id;
    }

    final void id(long number) {
        id = number;
    }

    /** Returns the number of bytes that the last receive has stored. */
    public final int bytes() {
        return bytes;
    }

    /** Begins the next turn, which is one use of the work request. Returns the number of the turn. */
    final int begin(int sendRequests) {
        busy = true;
        room = sendRequests;
        return ++turn;
    }

    /** Completes the current turn (use). Returns the number of send requests whose slots become free. */
    final int end(int receivedBytes) {
        busy = false;
        bytes = receivedBytes;
        int given = room;
        room = 0;
        return given;
    }

    /** Returns whether the turn (use) with this number has completed. A later turn might be in progress. */
    final boolean isOver(int begunTurn) {
        return !busy || turn != begunTurn;
    }

    /** Returns the number of the newest turn (use) of the work request. */
    public final int turn() {
        return turn;
    }

    final boolean arrives() {
        return arrives;
    }

    final String describe(int status) {
        IbvWcStatus[] all = IbvWcStatus.values();
        return name + " failed with " + (status >= 0 && status < all.length ? all[status] : "status " + status);
    }
}
