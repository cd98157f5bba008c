package io.modeldisk.protocol.engine;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.pdu.ScsiResponsePdu;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;

/**
 * Ends the tasks of a session: sends their statuses and frees their slots. After a call of any method except {@link #begin}, the
 * slot of the task might already serve another command.
 */
final class TaskEnd {
    private static final int SENSE_LENGTH_BYTES = 2;

    private final Target target;
    private final TargetDatamover datamover;
    private final CommandWindow window;
    private final BufferPool pool;
    private final TargetPortGroups portGroups;
    private final ActiveTags active;
    private final ScopedLock responseLock = new ScopedLock();
    private final ScsiResponsePdu response = new ScsiResponsePdu(Pdu.newHeader());
    private final ByteBuffer sense = ByteBuffer.allocateDirect(SENSE_LENGTH_BYTES + Sense.MAX_ENCODED_BYTES);

    TaskEnd(FullFeaturePhase.Setup setup, ActiveTags active) {
        this.target = setup.target();
        this.datamover = setup.datamover();
        this.window = setup.window();
        this.pool = setup.pool();
        this.portGroups = setup.portGroups();
        this.active = active;
    }

    /**
     * Prepares a task for sending its status. Does nothing if the task is already prepared: {@link TaskPutter} prepares a read
     * before it sends the last piece. If sending this piece fails, {@link #finish} prepares the same task again.
     */
    void begin(TaskSlot task) {
        if (task.state() == TaskState.ENDING) {
            return;
        }
        task.become(TaskState.ENDING);
        // From now on, the initiator can use the task's tag again.
        active.remove(task.transfer.slot());
        window.ending();
    }

    /** Sends the status of a task and frees its slot. */
    void finish(TaskSlot task, int status) throws IOException {
        int dataPdus = datamover.dataPduCount(task.transfer);
        begin(task);
        Sense reason = status == ScsiStatus.CHECK_CONDITION ? senseOf(task) : null;
        respond(task.transfer.initiatorTaskTag(), status, reason, task.command.residual, dataPdus);
        free(task, true);
    }

    /** Returns the sense of a task that has failed, or that ends because the target port group is no longer active. */
    private Sense senseOf(TaskSlot task) {
        if (task.failure() != null) {
            return task.failure();
        }
        Sense ofState = portGroups.state().sense();
        // The state of a group that has become active again has no sense data.
        return ofState == null ? Sense.ACCESS_STATE_CHANGED : ofState;
    }

    /** Ends a task with the status of its {@link TaskSlot#endReason}. {@code dataMoved} is true if the data was received. */
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

    /** Sends a status for a command that has no slot. */
    void refuse(ScsiCommandPdu command, int status) throws IOException {
        respond(command.initiatorTaskTag(), status, null, -command.expectedDataTransferBytes(), 0);
    }

    private void respond(int tag, int status, Sense reason, long residual, int dataPdus) throws IOException {
        if (!target.mayServe()) {
            // Another process might already serve the target, without the update that this status would acknowledge.
            throw new ClosedChannelException();
        }
        try (Held _ = responseLock.hold()) {
            response.begin(tag, status, dataPdus).residual(residual);
            if (reason != null) {
                byte[] encoded = reason.encode();
                sense.clear().putShort((short) encoded.length).put(encoded).flip();
            }
            datamover.sendControl(response, reason == null ? null : sense, true);
        }
    }

    /** Frees the slot of a task that has ended. */
    void free(TaskSlot task, boolean statusSent) {
        release(task);
        if (statusSent) {
            window.give(task);
        } else {
            window.giveAborted(task);
        }
    }

    /** Frees the slot of a rejected command. A rejected command counts as never received. */
    void discard(TaskSlot task) {
        release(task);
        window.discard(task);
    }

    private void release(TaskSlot task) {
        task.endWait();
        datamover.forget(task.transfer);
        task.giveDeviceMemory();
        for (long chunk = task.removeChunk(); chunk >= 0; chunk = task.removeChunk()) {
            pool.give(chunk);
        }
        active.remove(task.transfer.slot());
        task.become(TaskState.FREE);
    }
}
