package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Puts the data of reads: the pieces that the logical unit has pinned, the last of them with the status. After the last piece the
 * task is the device's until the put has ended, if the datamover leaves it under way.
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

    /** Puts all data of a read and its status, and ends the task, now or when the put has ended. The caller gives it up. */
    void put(TaskSlot task) throws IOException {
        boolean over;
        try {
            over = putPieces(task);
        } catch (IOException | RuntimeException e) {
            datamover.forget(task.transfer);
            task.unpin();
            throw e;
        }
        if (over) {
            task.unpin();
            end.free(task, true);
        }
    }

    /** Puts all pieces; returns false if the last one was left to the device, and the task with it. */
    private boolean putPieces(TaskSlot task) throws IOException {
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

    /** Pins the next piece of a read, beside those that are under way, if there is room for it. */
    private Pin pin(TaskSlot task, int position) throws IOException {
        if (task.pins.isFull() || task.usesScratch()) {
            datamover.awaitPuts(task.transfer);
            task.unpin();
        }
        task.command.unit.pin(task, position, task.pins.free());
        return task.pins.hold();
    }

    private boolean putLast(TaskSlot task, Pin pin, int position, int bytes) throws IOException {
        end.begin(task);
        // An abort sees a put that is under way, or none.
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
        // The receiver waits for the task's end and would be the one to take the put's.
        datamover.forget(task.transfer);
        return true;
    }

    /** Puts parameter data and the status, and ends the task. The task is not the caller's any more. */
    void putParameters(TaskSlot task, byte[] data, int length) throws IOException {
        MemorySegment scratch = task.memory().slab(task.scratchOffset());
        MemorySegment.copy(data, 0, scratch, ValueLayout.JAVA_BYTE,
            DataMemory.offsetInSlab(task.scratchOffset()), length);
        task.pins.free().set(task.memory(), task.scratchOffset(), length, null, 0);
        if (putLast(task, task.pins.hold(), 0, length)) {
            task.unpin();
            end.free(task, true);
        }
    }

    /** A put that was under way has ended. */
    void putEnded(TaskSlot task) {
        if (task.takePut()) {
            endPut(task);
        }
    }

    /** Ends a put that the caller has taken with {@link TaskSlot#takePut}, and its task. */
    void endPut(TaskSlot task) {
        window.endsPut();
        datamover.forget(task.transfer);
        task.unpin();
        end.free(task, true);
    }
}
