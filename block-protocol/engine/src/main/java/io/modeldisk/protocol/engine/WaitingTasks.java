package io.modeldisk.protocol.engine;

import java.util.Arrays;

/**
 * A queue of tasks in the order of their arrival. Each task waits until a position is reached. The queue is a ring, which grows
 * with the number of tasks and never shrinks. Not thread-safe.
 */
public final class WaitingTasks {
    private IoTask[] tasks = new IoTask[64];
    private long[] positions = new long[64];
    private int head;
    private int count;

    /** Adds a task. If an earlier task has a higher position, the new task also waits until that position is reached. */
    public void add(IoTask task, long position) {
        if (count == tasks.length) {
            grow();
        }
        int at = index(count++);
        tasks[at] = task;
        positions[at] = position;
    }

    private void grow() {
        IoTask[] moreTasks = new IoTask[2 * count];
        long[] morePositions = new long[2 * count];
        for (int i = 0; i < count; i++) {
            moreTasks[i] = tasks[index(i)];
            morePositions[i] = positions[index(i)];
        }
        tasks = moreTasks;
        positions = morePositions;
        head = 0;
    }

    private int index(int i) {
        return head + i & tasks.length - 1;
    }

    /** Returns whether a task waits. */
    public boolean contains(IoTask task) {
        return indexOf(task) >= 0;
    }

    private int indexOf(IoTask task) {
        for (int i = 0; i < count; i++) {
            if (tasks[index(i)] == task) {
                return i;
            }
        }
        return -1;
    }

    /** Removes a task. Does nothing if the task does not wait. */
    public void remove(IoTask task) {
        int found = indexOf(task);
        if (found < 0) {
            return;
        }
        for (int i = found; i < count - 1; i++) {
            tasks[index(i)] = tasks[index(i + 1)];
            positions[index(i)] = positions[index(i + 1)];
        }
        tasks[index(--count)] = null;
    }

    /**
     * Removes the tasks at the head of the ring whose positions are reached. Returns these tasks in {@code into}, or in a longer
     * array if {@code into} is too short. The element after the last task is null.
     */
    public IoTask[] drain(long reached, IoTask[] into) {
        IoTask[] drained = into;
        int released = 0;
        while (count > 0 && positions[head] <= reached) {
            if (released + 1 >= drained.length) {
                drained = Arrays.copyOf(drained, 2 * drained.length);
            }
            drained[released++] = tasks[head];
            tasks[head] = null;
            head = index(1);
            count--;
        }
        drained[released] = null;
        return drained;
    }
}
