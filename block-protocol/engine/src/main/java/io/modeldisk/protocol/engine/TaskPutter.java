package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Sends the data of reads in pieces that the logical unit has pinned. The last Put_Data sends the last piece and the status. If
 * this Put_Data is in progress when {@link TargetDatamover#putData} returns, the RDMA device owns the task until the Put_Data
 * completes.
 */
final class TaskPutter {
    private final TargetDatamover datamover;
    private final CommandWindow window;
    private final TaskEnd end;

    TaskPutter(FullFeaturePhase.Setup setup, TaskEnd end) {
        this.datamover = setup.datamover();
        this.window = setup.window();
        this.end = end;
    }

    /** Sends the data and status of a read, and ends the task now or later. The caller must not use the task any more. */
    void put(TaskSlot task) throws IOException, ScsiException {
        boolean over;
        try {
            over = putPieces(task);
        } catch (IOException | ScsiException | RuntimeException e) {
            datamover.forget(task.transfer);
            task.unpin();
            throw e;
        }
        if (over) {
            task.unpin();
            end.free(task, true);
        }
    }

    /** Sends all pieces of a read. Returns false if the RDMA device still sends the last piece and owns the task. */
    private boolean putPieces(TaskSlot task) throws IOException, ScsiException {
        int bytes = task.command.moveBytes;
        int position = 0;
        while (true) {
            Pin pin = pin(task, position);
            int part = Math.min(pin.lengthBytes(), bytes - position);
            if (position + part == bytes) {
                return putLast(task, pin, position, part);
            }
            if (datamover.putData(task.transfer, position, pin.memory(), pin.offset(), part, false, 0)) {
                task.unpin();
            }
            position += part;
        }
    }

    /**
     * Pins the next piece of a read. If no pin is free or an earlier piece uses the scratch memory, first waits until all earlier
     * pieces are sent, and releases their pins.
     */
    private Pin pin(TaskSlot task, int position) throws IOException, ScsiException {
        if (task.pins.isFull() || task.usesScratch()) {
            datamover.awaitPuts(task.transfer);
            task.unpin();
        }
        task.command.unit.pin(task, position, task.pins.free());
        return task.pins.hold();
    }

    private boolean putLast(TaskSlot task, Pin pin, int position, int bytes) throws IOException {
        end.begin(task);
        // The lock ensures that the receiver thread does not abort the task between the start of the Put_Data and leavePut().
        synchronized (task) {
            if (datamover.putData(task.transfer, position, pin.memory(), pin.offset(), bytes, true,
                task.command.residual)) {
                return true;
            }
            if (task.endReason() != EndReason.ABORTED) {
                task.leavePut(window.putting());
                return false;
            }
        }
        // The receiver thread has aborted the task and waits until the task has ended. While it waits, it cannot process the
        // completion of the Put_Data, so the caller of this method ends the task.
        datamover.forget(task.transfer);
        return true;
    }

    /** Sends parameter data and the status, and ends the task. The caller must not use the task any more. */
    void putParameters(TaskSlot task, byte[] data, int length) throws IOException {
        MemorySegment scratch = task.memory().slab(task.scratchOffset());
        MemorySegment.copy(data, 0, scratch, ValueLayout.JAVA_BYTE,
            DataMemory.offsetInSlab(task.scratchOffset()), length);
        task.pins.free().set(task.memory(), task.scratchOffset(), length, null);
        if (putLast(task, task.pins.hold(), 0, length)) {
            task.unpin();
            end.free(task, true);
        }
    }

    /** Ends a task whose last Put_Data has completed, unless another thread has claimed the task. */
    void putEnded(TaskSlot task) {
        if (task.takePut()) {
            endPut(task);
        }
    }

    /** Ends a task that the caller has claimed with {@link TaskSlot#takePut}. */
    void endPut(TaskSlot task) {
        window.endsPut();
        datamover.forget(task.transfer);
        task.unpin();
        end.free(task, true);
    }
}
