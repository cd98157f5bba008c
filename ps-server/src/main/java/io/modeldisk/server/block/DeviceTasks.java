package io.modeldisk.server.block;

import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.WaitingTasks;
import java.util.function.Consumer;

/**
 * The tasks that wait until a device has applied their gradients. {@link IoTask#deviceTicket} of a waiting task is the ticket of
 * the last operation that the task waits for. Thread-safe.
 */
public final class DeviceTasks {
    private final DeviceBlocks device;
    // Guarded by this.
    private final WaitingTasks waiting = new WaitingTasks();
    /** Used only by the thread of the device. */
    private IoTask[] applied = new IoTask[64];

    DeviceTasks(DeviceBlocks device, Consumer<DeviceException> lost) {
        this.device = device;
        device.listen(this::resume, lost);
    }

    /**
     * Returns whether the device has done all operations that were in its queue at the first call for this task. If not, the task
     * waits.
     *
     * @throws io.modeldisk.aggregator.device.DeviceException if the device has failed
     */
    public boolean isApplied(IoTask task) {
        device.check();
        boolean first = task.deviceTicket() == 0;
        if (device.applied() >= (first ? device.newest() : task.deviceTicket())) {
            return true;
        }
        synchronized (this) {
            // A failure after this check resumes the task.
            device.check();
            long wanted = first ? device.newest() : task.deviceTicket();
            if (device.applied() >= wanted) {
                return true;
            }
            if (first || !waiting.contains(task)) {
                task.deviceTicket(wanted);
                waiting.add(task, wanted);
            }
            return false;
        }
    }

    /** Removes a task from the waiting tasks. Does nothing if the task does not wait. */
    public synchronized void forget(IoTask task) {
        waiting.remove(task);
    }

    /** Resumes the tasks whose gradients the device has applied; after a failure, all tasks. Called by the device's thread. */
    private void resume() {
        synchronized (this) {
            applied = waiting.drain(device.failure() != null ? Long.MAX_VALUE : device.applied(), applied);
        }
        for (int i = 0; applied[i] != null; i++) {
            applied[i].resume();
        }
    }
}
