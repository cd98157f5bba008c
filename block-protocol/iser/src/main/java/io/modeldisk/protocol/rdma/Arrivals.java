package io.modeldisk.protocol.rdma;

/**
 * Completed work requests that wait for {@link QueuePair#awaitArrival}, in the order of completion. The work requests form a
 * linked list. Guarded by the lock of the queue pair.
 */
final class Arrivals {
    private Work first;
    private Work last;

    boolean isEmpty() {
        return first == null;
    }

    void add(Work work) {
        if (first == null) {
            first = work;
        } else {
            last.next = work;
        }
        last = work;
    }

    /** Removes and returns the first work request. The list must not be empty. */
    Work take() {
        Work taken = first;
        unlink(null, taken);
        return taken;
    }

    /** Removes a work request, if the list contains it. */
    void remove(Work work) {
        Work before = null;
        for (Work each = first; each != null; before = each, each = each.next) {
            if (each == work) {
                unlink(before, work);
                return;
            }
        }
    }

    private void unlink(Work before, Work work) {
        if (before == null) {
            first = work.next;
        } else {
            before.next = work.next;
        }
        if (last == work) {
            last = before;
        }
        work.next = null;
    }
}
