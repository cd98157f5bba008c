package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.IbvWC.IbvWcStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The work requests of a queue pair, the number of its free slots, and the completed work requests that wait for
 * {@link QueuePair#awaitArrival}. Guarded by the lock of the queue pair.
 */
final class WorkTable {
    /** The failure reason of a work request that the device flushed because the connection was closed. */
    static final String FLUSHED_BY_END = "flushed";

    private static final int SUCCESS = IbvWcStatus.IBV_WC_SUCCESS.ordinal();
    private static final int FLUSHED = IbvWcStatus.IBV_WC_WR_FLUSH_ERR.ordinal();

    private final List<Work> works = new ArrayList<>();
    private final ArrayDeque<Work> arrivals;
    private int room;
    /** The number of requests since the last signaled request. The completion of the next signaled request frees their slots. */
    private int unsignaled;

    WorkTable(int sendRequests, int receives) {
        this.room = sendRequests;
        this.arrivals = new ArrayDeque<>(sendRequests + receives);
    }

    <W extends Work> W add(W work) {
        work.id(works.size());
        works.add(work);
        return work;
    }

    boolean hasRoom(int requests) {
        return room >= requests;
    }

    /** Begins a turn of {@code work} for a chain of requests, of which only the last is signaled. Returns the turn's number. */
    int begin(Work work, int requests) {
        int turn = work.begin(requests + unsignaled);
        room -= requests;
        unsignaled = 0;
        return turn;
    }

    void beginUnsignaled() {
        room--;
        unsignaled++;
    }

    void beginReceive(Work work) {
        work.begin(0);
    }

    /** Ends a work request that could not be posted, and frees its room in the queue. */
    void takeBack(Work work) {
        room += work.end(0);
    }

    /**
     * Completes the work request to which a completion refers. Returns null, or the reason if the work request failed. The reason
     * is {@link #FLUSHED_BY_END} if the work request failed because the connection was closed.
     */
    String complete(IbvWC completion) {
        Work work = works.get((int) completion.getWr_id());
        int status = completion.getStatus();
        room += work.end(status == SUCCESS ? completion.getByte_len() : 0);
        if (status == SUCCESS) {
            if (work.arrives()) {
                arrivals.add(work);
            }
            return null;
        }
        return status == FLUSHED ? FLUSHED_BY_END : work.describe(status);
    }

    boolean hasArrival() {
        return !arrivals.isEmpty();
    }

    Work takeArrival() {
        return arrivals.remove();
    }

    void removeArrival(Work work) {
        arrivals.remove(work);
    }
}
