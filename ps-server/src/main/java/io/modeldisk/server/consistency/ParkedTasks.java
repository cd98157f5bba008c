package io.modeldisk.server.consistency;

import io.modeldisk.protocol.engine.IoTask;

/** The tasks that wait at one block, in order of arrival. Guarded by the block's lock. */
final class ParkedTasks {
    private ParkedTask head;
    private ParkedTask tail;

    void add(ParkedTask parked) {
        parked.next = null;
        if (head == null) {
            head = parked;
        } else {
            tail.next = parked;
        }
        tail = parked;
    }

    boolean isEmpty() {
        return head == null;
    }

    boolean contains(IoTask task) {
        ParkedTask each = head;
        while (each != null && each.task != task) {
            each = each.next;
        }
        return each != null;
    }

    /** Removes the entry of a task and returns the entry; null if the task is not in the list. */
    ParkedTask remove(IoTask task) {
        ParkedTask previous = null;
        for (ParkedTask each = head; each != null; previous = each, each = each.next) {
            if (each.task == task) {
                unlink(previous, each);
                return each;
            }
        }
        return null;
    }

    private void unlink(ParkedTask previous, ParkedTask removed) {
        if (previous == null) {
            head = removed.next;
        } else {
            previous.next = removed.next;
        }
        if (tail == removed) {
            tail = previous;
        }
        removed.next = null;
    }

    /** Removes all entries and puts them before the entries of {@code chain}. Returns the combined chain. */
    ParkedTask detachBefore(ParkedTask chain) {
        if (head == null) {
            return chain;
        }
        ParkedTask first = head;
        tail.next = chain;
        head = null;
        tail = null;
        return first;
    }
}
