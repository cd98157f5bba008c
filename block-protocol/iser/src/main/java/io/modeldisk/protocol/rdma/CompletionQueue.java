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
 * A completion queue and its event channel. First polled busily, in batches; after {@value #EMPTY_POLLS} polls in vain, by
 * waiting for an event.
 *
 * <p>For one thread at a time. Nothing is allocated after the start.
 */
final class CompletionQueue {
    static final int EVENT_WAIT_MILLIS = 100;

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
     * @param completions how many it must have room for
     * @param vector which of the device's interrupts tells of its events
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
     * Looks for completions.
     *
     * @param idle what is done after an event was waited for in vain
     * @return how many are in the batch: {@link #completion}
     */
    int poll(QueuePair.IdleCheck idle) throws IOException {
        int count = poll.execute().getPolls();
        if (count > 0) {
            emptyPolls = 0;
        } else if (emptyPolls < EMPTY_POLLS) {
            emptyPolls++;
            Thread.onSpinWait();
        } else if (!armed) {
            // What came before it was armed causes no event: the next call polls once more.
            arm.execute();
            armed = true;
        } else if (events.getCqEvent(queue, EVENT_WAIT_MILLIS)) {
            queue.ackEvents(1);
            armed = false;
            emptyPolls = 0;
        } else {
            idle.idle();
        }
        return count;
    }

    /** One of the last batch. */
    IbvWC completion(int index) {
        return batch[index];
    }

    /** Gives it back, when no queue pair uses it any more. */
    void destroy() throws IOException {
        poll.free();
        arm.free();
        queue.destroyCQ();
        events.destroyCompChannel();
    }
}
