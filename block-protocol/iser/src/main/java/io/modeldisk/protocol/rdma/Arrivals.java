package io.modeldisk.protocol.rdma;

/** Work that has arrived, in order, as a linked list of the work itself. Guarded by its queue pair. */
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

    /** Removes the first; there must be one. */
    Work take() {
        Work taken = first;
        unlink(null, taken);
        return taken;
    }

    /** Removes this one, if it is there. */
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
