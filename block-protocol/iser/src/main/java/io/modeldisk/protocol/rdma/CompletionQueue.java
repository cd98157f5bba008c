package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.util.Arrays;

/**
 * A completion queue and its event channel. All polling for completions happens in this class. After {@value #EMPTY_POLLS} empty
 * polls in a row, {@link #poll} waits for an event. This wait is limited to {@value #EVENT_WAIT_MS} ms, because no call can wake
 * the waiting thread.
 *
 * <p>Only one thread at a time may use a completion queue. Only the constructor allocates memory.
 */
final class CompletionQueue {
    static final int EVENT_WAIT_MS = 100;

    private static final int BATCH = 16;
    private static final int EMPTY_POLLS = 64;

    private final IbvCompChannel events;
    private final IbvCQ queue;
    private final IbvWC[] batch = new IbvWC[BATCH];
    private final SVCPollCq poll;
    private final SVCReqNotify arm;
    private int emptyPolls;
    private boolean armed;

    /**
     * @param completions the maximum number of completions in the queue
     * @param vector the completion vector, which is the number of the device interrupt for events of the queue
     */
    CompletionQueue(IbvContext device, int completions, int vector) throws IOException {
        Arrays.setAll(batch, _ -> new IbvWC());
        events = device.createCompChannel();
        IbvCQ made = null;
        try {
            made = device.createCQ(events, completions, vector);
            poll = made.poll(batch, BATCH);
            arm = made.reqNotification(false);
        } catch (IOException e) {
            if (made != null) {
                made.destroyCQ();
            }
            events.destroyCompChannel();
            throw e;
        }
        queue = made;
    }

    IbvCQ queue() {
        return queue;
    }

    /** Polls for completions, and returns their number. Runs {@code idle} if this method has waited and no event has arrived. */
    int poll(QueuePair.IdleCheck idle) throws IOException {
        int count = poll.execute().getPolls();
        if (count > 0) {
            emptyPolls = 0;
        } else if (emptyPolls < EMPTY_POLLS) {
            emptyPolls++;
            Thread.onSpinWait();
        } else if (!armed) {
            // Completions that arrived before arm.execute() cause no event. The next call of poll() finds these completions.
            arm.execute();
            armed = true;
        } else if (events.getCqEvent(queue, EVENT_WAIT_MS)) {
            queue.ackEvents(1);
            armed = false;
            emptyPolls = 0;
        } else {
            idle.idle();
        }
        return count;
    }

    /** Returns the completion with this index from the last poll. */
    IbvWC completion(int index) {
        return batch[index];
    }

    /** Releases the completion queue. No queue pair may use it any more. */
    void destroy() throws IOException {
        poll.free();
        arm.free();
        queue.destroyCQ();
        events.destroyCompChannel();
    }
}
