package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The buffer set that reads and writes use. Reads and writes hold a lock shared. A thread that lends or replaces the set holds it
 * exclusively. Thread-safe.
 */
final class ActiveSet {
    private final CancellableLock lock = new CancellableLock();
    private volatile BufferSet set;
    private volatile boolean touched;

    ActiveSet(BufferSet first) {
        set = first;
    }

    /** Returns the set. The result may be another set a moment later, unless the caller prevents that. */
    BufferSet set() {
        return set;
    }

    /** Returns whether the set was read or written after it was last lent. */
    boolean isTouched() {
        return touched;
    }

    /** Replies to a request with weights. Returns false without a reply if the weights cannot be read now. */
    boolean read(long offset, int lengthBytes, DataRequest request) throws IOException {
        long stamp = lock.lockShared(request.cancellation());
        try {
            boolean readable = set.isReadable();
            if (readable) {
                touched = true;
                request.reply(set.weights(), offset, lengthBytes);
            }
            return readable;
        } finally {
            lock.unlock(stamp);
        }
    }

    /** Copies the data of a request into the gradient. Returns false without a copy if the set is lent. */
    boolean write(long offset, int lengthBytes, DataRequest request) throws IOException {
        long stamp = lock.lockShared(request.cancellation());
        try {
            boolean writable = !set.isLent();
            if (writable) {
                touched = true;
                set.outgoing().write(offset, lengthBytes, request.memory(), request.memoryOffset());
            }
            return writable;
        } finally {
            lock.unlock(stamp);
        }
    }

    /** Marks the blocks of a range that the learner has written directly into the gradient buffer. */
    void written(long offset, long lengthBytes) {
        touched = true;
        set.outgoing().written(offset, lengthBytes);
    }

    /** Lends the set to an exchange. */
    void lend(Cancellation cancellation) throws IOException {
        long stamp = lock.lockExclusive(cancellation);
        try {
            set.lend();
            touched = false;
        } finally {
            lock.unlock(stamp);
        }
    }

    /** Discards the gradient. Returns the bytes that were written and not pushed. */
    long drop() {
        long stamp = lock.lockExclusive();
        try {
            touched = false;
            return set.outgoing().drop();
        } finally {
            lock.unlock(stamp);
        }
    }

    /** Discards the gradient and lends the set to an exchange. Returns the discarded bytes. */
    long dropAndLend() {
        long stamp = lock.lockExclusive();
        try {
            long droppedBytes = set.outgoing().drop();
            set.lend();
            touched = false;
            return droppedBytes;
        } finally {
            lock.unlock(stamp);
        }
    }

    /** Replaces the set. Returns the set before. */
    BufferSet replace(BufferSet next, Cancellation cancellation) throws IOException {
        long stamp = lock.lockExclusive(cancellation);
        try {
            BufferSet before = set;
            set = next;
            return before;
        } finally {
            lock.unlock(stamp);
        }
    }

    /** Replaces the set if necessary, and discards the gradient. Returns the discarded bytes. */
    long dropUnlessLent(UnaryOperator<BufferSet> unlessLent) {
        long stamp = lock.lockExclusive();
        try {
            set = unlessLent.apply(set);
            return set.outgoing().drop();
        } finally {
            lock.unlock(stamp);
        }
    }

    /** Calls {@code action} with the set while no read or write is in progress. */
    void alone(Consumer<BufferSet> action) {
        long stamp = lock.lockExclusive();
        try {
            action.accept(set);
        } finally {
            lock.unlock(stamp);
        }
    }
}
