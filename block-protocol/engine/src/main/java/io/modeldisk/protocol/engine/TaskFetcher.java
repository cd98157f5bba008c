package io.modeldisk.protocol.engine;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.RemainingData;
import io.modeldisk.protocol.scsi.Sense;
import java.io.IOException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Fetches the data of writes that did not come with the command: waits for memory first. */
final class TaskFetcher {
    private static final Logger LOG = LogManager.getLogger(TaskFetcher.class);

    private final BufferPool pool;
    private final TaskEnd end;
    private final NanoClock clock;

    TaskFetcher(FullFeaturePhase.Setup setup, TaskEnd end) {
        this.pool = setup.pool();
        this.clock = setup.clock();
        this.end = end;
    }

    /** Has the data of a task fetched; called by the receiver. */
    void fetch(TaskSlot task, RemainingData remaining) throws IOException {
        task.remainingData = remaining;
        task.waits(clock.nanoTime());
        if (task.failure() != null) {
            // No status goes out before the data that was announced has come (RFC 7143 section 11.4.2).
            task.become(TaskState.AWAITING_DATA);
            return;
        }
        task.become(TaskState.AWAITING_MEMORY);
        if (pool.takeOrWait(task)) {
            request(task);
        }
    }

    /** Asks for the data of a task that has its memory; called by the receiver or the responder. */
    void request(TaskSlot task) throws IOException {
        // An abort and a failure see a task that waits for memory, or one that waits for data.
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

    /** One that another session has aborted takes its data all the same. */
    private static boolean endsBeforeItsData(TaskSlot task) {
        return task.endReason() == EndReason.ABORTED || task.failure() != null;
    }

    /** The data of a task is faulty: the command ends, the session goes on. Called by the receiver. */
    void fail(TaskSlot task, DataError error) throws IOException {
        Sense sense = senseOf(task, error);
        LOG.info("a write of {} fails: {}", task.nexus().learner(), sense);
        synchronized (task) {
            task.fail(sense);
            if (task.state() == TaskState.AWAITING_MEMORY && !pool.stopWaiting(task)) {
                // Its memory has just been granted: the responder ends it.
                return;
            }
        }
        end.endEarly(task, false);
    }

    /** The sense for a fault of a task's data; what failed before the data came counts more. */
    static Sense senseOf(TaskSlot task, DataError error) {
        if (task.failure() != null) {
            return task.failure();
        }
        return switch (error) {
            case UNWANTED -> throw new IllegalStateException("the data of a command that has not failed is wanted");
            case DIGEST, OUT_OF_ORDER -> Sense.PROTOCOL_SERVICE_CRC_ERROR;
            case INCORRECT_AMOUNT -> Sense.INCORRECT_AMOUNT_OF_DATA;
            case UNEXPECTED_UNSOLICITED_DATA -> Sense.UNEXPECTED_UNSOLICITED_DATA;
            case WRONG_MEMORY -> Sense.DATA_OFFSET_ERROR;
        };
    }
}
