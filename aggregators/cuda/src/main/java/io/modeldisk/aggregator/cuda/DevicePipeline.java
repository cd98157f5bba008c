package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.time.NanoClock;
import java.util.concurrent.TimeUnit;

/**
 * The loop of the thread that submits work to a device. The thread combines queued operations into groups, and polls the device
 * for completed groups. While no group is in flight, the thread sleeps until an operation is queued. While groups are in flight,
 * the thread polls after pauses of {@value #FIRST_PAUSE_NS} ns to {@value #LONGEST_PAUSE_NS} ns. Operations that are queued
 * during a pause form the next group.
 */
final class DevicePipeline implements Runnable {
    /** The maximum number of groups in flight on the device. */
    static final int GROUPS = 4;

    private static final long FIRST_PAUSE_NS = 10_000;
    private static final long LONGEST_PAUSE_NS = 100_000;

    private final OperationQueue queue;
    private final FoldGroup[] groups = new FoldGroup[GROUPS];
    private final FoldGroup.Marks marks;
    private final NanoClock clock;
    private final String device;
    private long begun;
    private long begunGroups;
    private long appliedGroups;
    private long doneGroups;
    private long appliedTicket;
    private long doneTicket;
    private long advancedNs;

    DevicePipeline(
        CudaDevice device, DeviceShape shape, OperationQueue queue, ShardMemory memory, FoldKernels kernels) {
        this.queue = queue;
        this.marks = new FoldGroup.Marks(shape.blocks());
        this.clock = shape.clock();
        this.device = device.toString();
        FoldGroup.Streams streams = new FoldGroup.Streams(device.newStream(), device.newStream(), device.newStream());
        for (int i = 0; i < groups.length; i++) {
            groups[i] = new FoldGroup(device, shape, queue, memory, kernels, streams);
        }
    }

    @Override
    public void run() {
        // Without this call, Linux would make each pause 50 µs longer.
        Processes.shortPauses();
        try {
            long pause = FIRST_PAUSE_NS;
            boolean open = true;
            while (open) {
                if (begin() | collect()) {
                    pause = FIRST_PAUSE_NS;
                } else {
                    boolean idle = begunGroups == doneGroups;
                    // The time is checked only after a poll of the device. Otherwise, after a stop of the process (SIGSTOP), a
                    // device that has made progress meanwhile would seem to have made none.
                    checkTime(idle);
                    open = queue.awaitWork(begun, begunGroups - doneGroups < groups.length, idle ? 0 : pause);
                    pause = Math.min(2 * pause, LONGEST_PAUSE_NS);
                }
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            queue.fail(e instanceof DeviceException known
                ? known
                : new DeviceException("the device " + device + " failed: " + e.getMessage(), e));
        } finally {
            queue.end();
        }
    }

    /** Starts queued operations on the device. Returns false if there are none, or if all groups are in flight. */
    private boolean begin() {
        if (begunGroups - doneGroups == groups.length) {
            return false;
        }
        long filled = queue.lastFilled(begun);
        if (filled == begun) {
            return false;
        }
        if (begunGroups == doneGroups) {
            advancedNs = clock.nanoTime();
        }
        long number = begunGroups + 1;
        FoldGroup group = groups[(int) (number % groups.length)];
        group.begin(number);
        while (begun < filled && group.add(begun + 1, marks)) {
            begun++;
            queue.begin(begun);
        }
        group.launch(groups, doneGroups);
        begunGroups = number;
        return true;
    }

    /** Records which groups are applied and which are done. Returns true if there are new ones. */
    private boolean collect() {
        long applied = appliedGroups;
        long done = doneGroups;
        while (appliedGroups < begunGroups && group(appliedGroups + 1).isApplied()) {
            appliedGroups++;
            appliedTicket = group(appliedGroups).last();
        }
        while (doneGroups < appliedGroups && group(doneGroups + 1).isDone()) {
            doneGroups++;
            // The ticket is read now, because a later group can reuse the object of this group.
            doneTicket = group(doneGroups).last();
        }
        if (applied == appliedGroups && done == doneGroups) {
            return false;
        }
        advancedNs = clock.nanoTime();
        queue.advance(appliedTicket, doneTicket);
        return true;
    }

    private FoldGroup group(long number) {
        return groups[(int) (number % groups.length)];
    }

    private void checkTime(boolean idle) {
        boolean late = !idle
            && clock.nanoTime() - advancedNs > TimeUnit.MILLISECONDS.toNanos(OperationQueue.DEVICE_TIMEOUT_MS);
        // Polls once more: the process may have been stopped between the last poll and the read of the clock.
        if (late && !collect()) {
            throw new DeviceException("the device " + device + " did not complete its work within "
                + OperationQueue.DEVICE_TIMEOUT_MS / 1000 + " s", null);
        }
    }
}
