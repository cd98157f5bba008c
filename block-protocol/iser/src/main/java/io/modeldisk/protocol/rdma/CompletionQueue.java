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
 * A completion queue and its event channel. This is where iSER polls: busily and in batches first; after {@value #EMPTY_POLLS}
 * empty polls, it waits for an event, {@value #EVENT_WAIT_MS} ms at a time, since no call wakes that wait.
 *
 * <p>For one thread at a time. Nothing is allocated after the start.
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
     * Makes a completion queue on a device.
     *
     * @param completions the completions that it must have room for
     * @param vector the interrupt of the device for its events
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

    /**
     * Polls for completions.
     *
     * @param idle called after a wait without an event
     * @return the number of completions in the batch: {@link #completion}
     */
    int poll(QueuePair.IdleCheck idle) throws IOException {
        int count = poll.execute().getPolls();
        if (count > 0) {
            emptyPolls = 0;
        } else if (emptyPolls < EMPTY_POLLS) {
            emptyPolls++;
            Thread.onSpinWait();
        } else if (!armed) {
            // A completion before this causes no event: the next call polls once more.
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

    /** A completion of the last batch. */
    IbvWC completion(int index) {
        return batch[index];
    }

    /** Releases it; no queue pair uses it any more. */
    void destroy() throws IOException {
        poll.free();
        arm.free();
        queue.destroyCQ();
        events.destroyCompChannel();
    }
}
