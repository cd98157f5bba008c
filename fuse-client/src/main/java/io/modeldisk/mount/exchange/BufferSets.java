package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.platform.cancellation.CancellableLock;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * The one or two buffer sets of an exchange. Reads and writes use the active set and hold a lock in shared mode. A thread that
 * lends or replaces the active set holds the lock exclusively. If there are two sets, the inactive set is exchanged with the
 * shards while the learner computes. Reads, writes and queries are thread-safe. A thread that calls any other method must hold
 * the lock {@code turn} of {@link BufferedExchange}.
 */
final class BufferSets {
    private final CancellableLock lock = new CancellableLock();
    private final long bytes;
    private final ExchangeSettings.Buffers buffers;
    private volatile BufferSet active;
    /** Null if there is only one set. */
    private volatile BufferSet other;
    private volatile boolean touched;

    /**
     * Creates sets without buffers.
     *
     * @param two whether there are two sets
     * @param bytes the size of each buffer, a multiple of the logical block
     */
    BufferSets(boolean two, long bytes, ExchangeSettings.Buffers buffers) {
        this.bytes = bytes;
        this.buffers = buffers;
        this.active = new BufferSet(0, bytes, buffers);
        this.other = two ? new BufferSet(1, bytes, buffers) : null;
    }

    /** Returns whether there are two sets. */
    boolean areTwo() {
        return other != null;
    }

    int count() {
        return areTwo() ? 2 : 1;
    }

    /** Returns the active set. The other set can become active at any time, unless the caller prevents that with a lock. */
    BufferSet active() {
        return active;
    }

    /** Returns the set that the learner does not use; null if there is only one set. */
    BufferSet other() {
        return other;
    }

    /**
     * Returns the set with this number. If the sets are being swapped and the caller does not hold the lock {@code turn}, the
     * result can be the wrong set.
     */
    BufferSet set(int number) {
        BufferSet now = active;
        return now.number() == number || !areTwo() ? now : other;
    }

    /** Returns whether the active set was read or written since it was last lent. */
    boolean isTouched() {
        return touched;
    }

    /** Replies to a request with weights. Returns false without a reply if the weights cannot be read now. */
    boolean read(long offset, int lengthBytes, DataRequest request) throws IOException {
        try (CancellableLock.Held _ = lock.shared(request.cancellation())) {
            boolean readable = active.isReadable();
            if (readable) {
                touched = true;
                request.reply(active.weights(), offset, lengthBytes);
            }
            return readable;
        }
    }

    /** Copies the data of a request into the gradient. Returns false without a copy if the set is lent. */
    boolean write(long offset, int lengthBytes, DataRequest request) throws IOException {
        try (CancellableLock.Held _ = lock.shared(request.cancellation())) {
            boolean writable = !active.isLent();
            if (writable) {
                touched = true;
                active.outgoing().write(offset, lengthBytes, request.memory(), request.memoryOffset());
            }
            return writable;
        }
    }

    /**
     * Makes set 0 the active set, allocates the buffers that do not exist yet, and lends the sets for a pull. Only a learner gets
     * gradient buffers and the second set.
     *
     * @param wholeGradients see {@link BufferSet#wholeGradients}
     */
    ExchangeJob lendForOpen(RemoteModel model, boolean learner, boolean wholeGradients, Cancellation cancellation)
        throws IOException {
        if (active.number() != 0) {
            swap(cancellation);
        }
        active.allocate(model, learner);
        active.wholeGradients(wholeGradients);
        BufferSet copy = learner ? other : null;
        if (copy != null) {
            copy.allocate(model, true);
            copy.wholeGradients(wholeGradients);
        }
        lend(cancellation);
        if (copy != null) {
            copy.lend();
        }
        return ExchangeJob.pull(active, copy);
    }

    /** Lends the active set to an exchange. */
    void lend(Cancellation cancellation) throws IOException {
        try (CancellableLock.Held _ = lock.exclusive(cancellation)) {
            active.lend();
            touched = false;
        }
    }

    /**
     * Discards the gradients of all sets, and lends the sets. Returns the number of bytes that were discarded in the active set.
     */
    long dropAndLend() {
        long droppedBytes;
        try (CancellableLock.Held _ = lock.exclusive()) {
            droppedBytes = active.outgoing().drop();
            active.lend();
            touched = false;
        }
        if (areTwo()) {
            other.outgoing().drop();
            other.lend();
        }
        return droppedBytes;
    }

    /** Discards the gradient of the active set. Returns the number of bytes that were written and not pushed. */
    long drop() {
        try (CancellableLock.Held _ = lock.exclusive()) {
            touched = false;
            return active.outgoing().drop();
        }
    }

    /** Swaps the active set and the other set. */
    void swap(Cancellation cancellation) throws IOException {
        try (CancellableLock.Held _ = lock.exclusive(cancellation)) {
            BufferSet before = active;
            active = other;
            other = before;
        }
    }

    /**
     * Replaces each set that is still lent, because its exchange might still use the memory. The exchange frees the memory later.
     */
    void replaceLent() {
        try (CancellableLock.Held _ = lock.exclusive()) {
            active = unlessLent(active);
            other = areTwo() ? unlessLent(other) : null;
        }
    }

    private BufferSet unlessLent(BufferSet set) {
        return set.abandon() ? new BufferSet(set.number(), bytes, buffers) : set;
    }

    /** Returns the images of the sets, by their numbers. */
    List<ExchangeImage.Set> image() {
        return IntStream.range(0, count()).mapToObj(number -> set(number).image()).toList();
    }

    /** Takes over the sets of another process. */
    void resume(ExchangeImage image, RemoteModel model, long nowNs) throws IOException {
        for (int i = 0; i < count(); i++) {
            set(i).resume(image.sets().get(i), model, nowNs);
        }
        if (image.activeSet() != active.number()) {
            swap(Cancellation.NONE);
        }
    }

    /** Calls {@code action} with the active set while no read or write is in progress. */
    void alone(Consumer<BufferSet> action) {
        try (CancellableLock.Held _ = lock.exclusive()) {
            action.accept(active);
        }
    }

    /** Frees the memory of each set that no exchange uses. */
    void close() {
        alone(BufferSet::closeUnlessLent);
        if (areTwo()) {
            other.closeUnlessLent();
        }
    }
}
