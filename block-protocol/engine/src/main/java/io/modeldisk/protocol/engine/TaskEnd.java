package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.pdu.ScsiResponsePdu;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The end of a session's tasks: sends statuses and gives slots back. After every method that takes a task, except
 * {@link #begin}, the slot may already serve another command.
 */
final class TaskEnd {
    private static final int SENSE_LENGTH_BYTES = 2;

    private final TargetDatamover datamover;
    private final CommandWindow window;
    private final BufferPool pool;
    private final ActiveTags active;
    private final ReentrantLock responseLock = new ReentrantLock();
    private final ScsiResponsePdu response = new ScsiResponsePdu(Pdu.newHeader());
    private final ByteBuffer sense = ByteBuffer.allocateDirect(SENSE_LENGTH_BYTES + Sense.ENCODED_BYTES);

    TaskEnd(FullFeaturePhase.Setup setup, ActiveTags active) {
        this.datamover = setup.datamover();
        this.window = setup.window();
        this.pool = setup.pool();
        this.active = active;
    }

    /** The task's status is about to go out. Does nothing if that is known: a read may fail over its last piece. */
    void begin(TaskSlot task) {
        if (task.state() == TaskState.ENDING) {
            return;
        }
        task.become(TaskState.ENDING);
        // The initiator may use its tag again.
        active.remove(task.transfer.slot());
        window.ending();
    }

    /** Ends a task with a status. */
    void finish(TaskSlot task, int status) throws IOException {
        int dataPdus = datamover.dataPduCount(task.transfer);
        begin(task);
        Sense reason = status == ScsiStatus.CHECK_CONDITION ? task.failure() : null;
        respond(task.transfer.initiatorTaskTag(), status, reason, task.command.residual, dataPdus);
        free(task, true);
    }

    /**
     * Ends a task for its {@link TaskSlot#endReason}.
     *
     * @param dataMoved whether the initiator's data has been taken
     */
    void endEarly(TaskSlot task, boolean dataMoved) throws IOException {
        EndReason reason = task.endReason();
        if (reason == EndReason.ABORTED) {
            free(task, false);
            return;
        }
        if (!dataMoved) {
            task.command.moveNothing();
        }
        finish(task, reason.status());
    }

    /** Answers a command that has no slot. */
    void refuse(ScsiCommandPdu command, int status) throws IOException {
        respond(command.initiatorTaskTag(), status, null, -command.expectedDataTransferBytes(), 0);
    }

    private void respond(int tag, int status, Sense reason, long residual, int dataPdus) throws IOException {
        responseLock.lock();
        try {
            response.begin(tag, status, dataPdus).residual(residual);
            if (reason != null) {
                sense.clear().putShort((short) Sense.ENCODED_BYTES).put(reason.encode()).flip();
            }
            datamover.sendControl(response, reason == null ? null : sense, true);
        } finally {
            responseLock.unlock();
        }
    }

    /** Gives back the slot of a task that is over. */
    void free(TaskSlot task, boolean statusSent) {
        release(task);
        if (statusSent) {
            window.give(task);
        } else {
            window.giveAborted(task);
        }
    }

    /** Gives back the slot of a command that is rejected, and so taken for one that never came. */
    void discard(TaskSlot task) {
        release(task);
        window.discard(task);
    }

    private void release(TaskSlot task) {
        task.endWait();
        datamover.forget(task.transfer);
        for (long chunk = task.removeChunk(); chunk >= 0; chunk = task.removeChunk()) {
            pool.give(chunk);
        }
        active.remove(task.transfer.slot());
        task.become(TaskState.FREE);
    }
}
