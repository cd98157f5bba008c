package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.IbvWC.IbvWcStatus;
import java.util.ArrayList;
import java.util.List;

/** The work of a queue pair: what is in flight, the room for more, and what has arrived. Guarded by the queue pair. */
final class WorkTable {
    /** The device flushed the work because the connection ended. */
    static final String FLUSHED_BY_END = "flushed";

    private static final int SUCCESS = IbvWcStatus.IBV_WC_SUCCESS.ordinal();
    private static final int FLUSHED = IbvWcStatus.IBV_WC_WR_FLUSH_ERR.ordinal();

    private final List<Work> works = new ArrayList<>();
    private final Arrivals arrivals = new Arrivals();
    private int room;
    /** The unsignaled requests since the last signaled one, whose completion gives their room back. */
    private int unsignaled;

    WorkTable(int sendRequests) {
        this.room = sendRequests;
    }

    <W extends Work> W add(W work) {
        work.id(works.size());
        works.add(work);
        return work;
    }

    boolean hasRoom(int requests) {
        return room >= requests;
    }

    /** Begins requests of which the last is signaled; the turn of the work. */
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

    /** Ends work that could not be posted. */
    void takeBack(Work work) {
        room += work.end(0);
    }

    /** Ends the work of a completion; the reason if it failed, {@link #FLUSHED_BY_END} if the connection's end caused that. */
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
        return arrivals.take();
    }

    void removeArrival(Work work) {
        arrivals.remove(work);
    }
}
