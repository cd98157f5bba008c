package io.modeldisk.protocol.engine;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.RemainingData;
import io.modeldisk.protocol.scsi.Sense;
import java.io.IOException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Fetches write data that did not arrive with its command. Before the fetch, the task waits until it has enough memory. */
final class TaskFetcher {
    private static final Logger LOG = LogManager.getLogger(TaskFetcher.class);

    private final BufferPool pool;
    private final TaskEnd end;
    private final NanoClock clock;
    private final FaultCount faults;
    private final boolean reachesDevices;

    TaskFetcher(FullFeaturePhase.Setup setup, TaskEnd end, FaultCount faults) {
        this.pool = setup.pool();
        this.clock = setup.clock();
        this.reachesDevices = setup.datamover().reachesDevices();
        this.end = end;
        this.faults = faults;
    }

    /** Starts to fetch the remaining data of a task. Called by the receiver thread. */
    void fetch(TaskSlot task, RemainingData remaining) throws IOException {
        task.remainingData = remaining;
        task.waits(clock.nanoTime());
        if (task.failure() != null) {
            // A failed task still waits for its data, which must arrive before the status is sent (RFC 7143 section 11.4.2).
            task.become(TaskState.AWAITING_DATA);
            return;
        }
        task.become(TaskState.AWAITING_MEMORY);
        if (reachesDevices && task.takeDeviceMemory() || pool.takeOrWait(task)) {
            request(task);
        }
    }

    /** Requests the data of a task that has received its memory. Called by the receiver thread or the responder thread. */
    void request(TaskSlot task) throws IOException {
        // The lock ensures that no other thread sees the task between its wait for memory and its wait for data.
        synchronized (task) {
            if (!endsBeforeItsData(task)) {
                task.waits(clock.nanoTime());
                task.become(TaskState.AWAITING_DATA);
                task.remainingData.get(task.transfer, task.command.moveBytes);
                return;
            }
        }
        end.endEarly(task, false);
    }

    /** True if a task ends before its data is requested. A task that another session aborted still receives its data. */
    private static boolean endsBeforeItsData(TaskSlot task) {
        return task.endReason() == EndReason.ABORTED || task.failure() != null;
    }

    /** Fails a command whose data is faulty. The session continues. Called by the receiver thread. */
    void fail(TaskSlot task, DataError error) throws IOException {
        Sense sense = senseOf(task, error);
        if (faults.add()) {
            LOG.info("a write command of {} failed: {} (faulty PDUs of this connection so far: {})",
                task.nexus().learner(), sense, faults.count());
        }
        synchronized (task) {
            task.fail(sense);
            if (task.state() == TaskState.AWAITING_MEMORY && !pool.stopWaiting(task)) {
                // The pool has just given memory to the task. The responder thread will end the failed task.
                return;
            }
        }
        end.endEarly(task, false);
    }

    /** Returns the sense for a fault in a task's data. If the task failed earlier, returns the sense of that failure. */
    static Sense senseOf(TaskSlot task, DataError error) {
        if (task.failure() != null) {
            return task.failure();
        }
        return switch (error) {
            case UNWANTED -> throw new IllegalStateException("data was dropped although the command had not failed");
            case DIGEST, OUT_OF_ORDER -> Sense.PROTOCOL_SERVICE_CRC_ERROR;
            case INCORRECT_AMOUNT -> Sense.INCORRECT_AMOUNT_OF_DATA;
            case UNEXPECTED_UNSOLICITED_DATA -> Sense.UNEXPECTED_UNSOLICITED_DATA;
            case WRONG_MEMORY -> Sense.DATA_OFFSET_ERROR;
        };
    }
}
