package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvWC.IbvWcStatus;

/**
 * A request that a queue pair may have in flight, used again and again. A completion finds it by its number alone: what else
 * a failed completion says is not to be trusted. Its fields are guarded by its {@link QueuePair}.
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
     * @param name what it does, for messages
     * @param arrives whether {@link QueuePair#awaitArrival} is to answer it when it completes
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

    /** How many bytes came, for one that receives. */
    public final int bytes() {
        return bytes;
    }

    /** Begins it; answers which turn of its this is. */
    final int begin(int sendRequests) {
        busy = true;
        room = sendRequests;
        return ++turn;
    }

    /** Ends it; answers how many send requests it gives room for. */
    final int end(int receivedBytes) {
        busy = false;
        bytes = receivedBytes;
        int given = room;
        room = 0;
        return given;
    }

    /** Whether the turn that began with this number is over; another may have begun since. */
    final boolean isOver(int begunTurn) {
        return !busy || turn != begunTurn;
    }

    /** The number of the turn that is or was last. */
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
