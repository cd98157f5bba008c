package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvWC.IbvWcStatus;

/**
 * A request of a queue pair, used again for each of its turns. A completion names it by its number: the other fields of a failed
 * completion are not valid. Guarded by its {@link QueuePair}.
 */
public class Work {
    private final String name;
    private long id;
    private final boolean arrives;
    private int room;
    private boolean busy;
    private int turn;
    private int bytes;
    Work next;

    /**
     * @param name its action, for messages
     * @param arrives whether {@link QueuePair#awaitArrival} returns it when it completes
     */
    public Work(String name, boolean arrives) {
        this.name = name;
        this.arrives = arrives;
    }

    /** Its number among the requests of its queue pair. */
    public final long id() {
        return id;
    }

    final void id(long number) {
        id = number;
    }

    /** The number of received bytes, of a receive. */
    public final int bytes() {
        return bytes;
    }

    /** Begins the next turn; its number. */
    final int begin(int sendRequests) {
        busy = true;
        room = sendRequests;
        return ++turn;
    }

    /** Ends the turn; the number of send requests that become free. */
    final int end(int receivedBytes) {
        busy = false;
        bytes = receivedBytes;
        int given = room;
        room = 0;
        return given;
    }

    /** Whether the turn with this number has ended; a later one may be in progress. */
    final boolean isOver(int begunTurn) {
        return !busy || turn != begunTurn;
    }

    /** The number of the newest turn. */
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
