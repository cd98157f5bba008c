package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;

/**
 * The gradient in the buffer of a {@link BufferSet}, from its first write until its exchange has succeeded. Records which logical
 * blocks the learner has written, which of them the shards have accepted, and whether the others are pushed or left out. The
 * buffer keeps the gradient until the exchange has succeeded, so a repeated fsync can check that the gradient is still the same.
 *
 * <pre>
 *   written ── pushBegins, judge ──> begun ── exchanged ──> ended ── forget ──> none
 *      ^                              │  └── giveUp ──────────────────────────────^
 *      └── refused: nothing was sent ─┘
 * </pre>
 *
 * <p>{@link #write} and {@link #written} are thread-safe. {@link #push} is thread-safe for different ranges. Only the owner of
 * the set is allowed to call the other methods.
 */
final class OutgoingGradient {
    private static final String DROP_COMMAND = "setfattr -n user.modeldisk.drop DIR/model";

    private final BufferSet buffer;
    private final long bytes;
    /** The blocks of the gradient. */
    private final DirtyBlocks dirty;
    /** The blocks of the gradient that the shards have accepted. */
    private final DirtyBlocks pushed;
    /**
     * The blocks whose bytes in the buffer are from an earlier gradient. Guarded by the monitor of this field while the learner
     * writes.
     */
    private final DirtyBlocks old;
    /** The blocks of the gradient when its push began. */
    private final DirtyBlocks marksAtBegin;
    private volatile boolean unsynchronized;
    private volatile boolean begun;
    private volatile boolean ended;
    private volatile boolean judged;
    private volatile boolean leftOut;
    private volatile boolean givenUp;
    /** Guarded by {@code this}. */
    private boolean countsLeftOut;
    /**
     * The number of bytes that the shards count as absent, because the gradient was left out or {@link #giveUp} has given up the
     * rest.
     */
    private long absentBytes;
    /** The fingerprint of the gradient whose push has begun and whose fsync has failed; 0 if there is no such gradient. */
    private volatile long fingerprint;

    /** Creates an empty gradient. {@code bytes} is the size of the buffer, a multiple of the logical block. */
    OutgoingGradient(BufferSet buffer, long bytes) {
        this.buffer = buffer;
        this.bytes = bytes;
        this.dirty = new DirtyBlocks(bytes);
        this.pushed = new DirtyBlocks(bytes);
        this.old = new DirtyBlocks(bytes);
        this.marksAtBegin = new DirtyBlocks(bytes);
    }

    private DataMemory memory() {
        return buffer.gradient();
    }

    /** Copies a range of the gradient into the buffer and marks its blocks as written. */
    void write(long offset, int lengthBytes, DataMemory from, long fromOffset) {
        renew(offset, lengthBytes);
        Memories.copy(from, fromOffset, memory(), offset, lengthBytes);
        dirty.mark(offset, lengthBytes);
    }

    /** Marks the blocks of a range that the learner has written directly into the gradient buffer. */
    void written(long offset, long lengthBytes) {
        renew(offset, lengthBytes);
        dirty.mark(offset, lengthBytes);
    }

    /**
     * Prepares logical blocks for a write. A push sends whole logical blocks, so bytes that the learner does not write must be
     * zero. If a logical block that the write covers only in part has bytes of an earlier gradient, its other bytes are set to
     * zero here. The bytes of the write are not changed, because a learner that maps the buffer has already written them.
     */
    private void renew(long offset, long lengthBytes) {
        if (!old.any(offset, lengthBytes)) {
            return;
        }
        synchronized (old) {
            long from = LogicalBlock.down(offset);
            long end = offset + lengthBytes;
            long to = LogicalBlock.up(end);
            zeroIfOld(from, offset);
            zeroIfOld(end, to);
            old.clear(from, to - from);
        }
    }

    /** Sets a part of a logical block to zero if the block has old bytes. */
    private void zeroIfOld(long from, long end) {
        if (from < end && !buffer.isWhole() && old.any(from, end - from)) {
            Memories.zero(memory(), from, end - from);
        }
    }

    /** Returns whether at least one block of the gradient was written. */
    boolean isDirty() {
        return dirty.nextDirty(0) >= 0;
    }

    /** Returns whether a block of the gradient has not reached the shards. */
    boolean hasUnpushed() {
        return dirty.nextExcept(pushed, 0) >= 0;
    }

    /** Returns the number of bytes of the gradient that have not reached the shards. */
    long unpushedBytes() {
        return dirty.bytes() - pushed.bytes();
    }

    /** Returns whether a part of the gradient might have reached the shards. If so, the rest belongs to the same round. */
    boolean isBegun() {
        return begun;
    }

    /**
     * Returns whether the written values of a range are finite. Ignores bytes beyond {@code end}, which can be the end of the
     * model.
     */
    boolean isFinite(RemoteModel model, long offset, long end) {
        for (long from = dirty.nextDirty(offset); from >= 0 && from < end;) {
            long stop = Math.min(dirty.nextClean(from), end);
            if (!model.dtype().areFinite(memory(), from, stop - from)) {
                return false;
            }
            from = stop < end ? dirty.nextDirty(stop) : -1;
        }
        return true;
    }

    /**
     * Returns whether {@link #judge} was called, which decides whether {@link #push} sends the gradient or marks it as absent.
     */
    boolean isJudged() {
        return judged;
    }

    /** Decides what {@link #push} does with the gradient from now on: sends it if it is finite, otherwise marks it as absent. */
    synchronized void judge(boolean finite) {
        judged = true;
        leftOut = !finite;
        countsLeftOut = leftOut && !begun;
    }

    /** Records that an exchange begins to push the gradient, or its rest. Must be called while no write is in progress. */
    void pushBegins() {
        // If an fsync is repeated although its exchange has succeeded, there is nothing to push, and the gradient stays
        // unchanged.
        if (!begun && (!ended || isDirty())) {
            ended = false;
            absentBytes = 0;
            marksAtBegin.bits().copy(dirty.bits().words());
        }
    }

    /**
     * Pushes the blocks of a range that were written and not yet pushed, or marks them as absent if the gradient is left out. The
     * buffer keeps the gradient until {@link #end}. Several threads can push different ranges at the same time.
     *
     * @return the number of bytes that were pushed
     */
    long push(RemoteModel model, long offset, long end, Cancellation cancellation) throws IOException {
        long done = 0;
        long from = dirty.nextExcept(pushed, offset);
        while (from >= 0 && from < end) {
            long length = Math.min(dirty.endExcept(pushed, from), end) - from;
            begun = true;
            if (leftOut) {
                leaveOut(model, from, length, cancellation);
            } else {
                model.startPush(from, memory(), from, length, true, cancellation, null);
                done += length;
            }
            unsynchronized = true;
            pushed.mark(from, length);
            from = dirty.nextExcept(pushed, from);
        }
        return done;
    }

    private void leaveOut(RemoteModel model, long from, long length, Cancellation cancellation) throws IOException {
        boolean counts = takeCount();
        try {
            model.absent(from, length, counts, cancellation);
        } catch (IOException e) {
            giveCount(counts);
            throw e;
        }
        addAbsent(length);
    }

    private synchronized void addAbsent(long lengthBytes) {
        absentBytes += lengthBytes;
    }

    /**
     * Returns true only once for each gradient that is left out, because the shards must count one gradient and not each of its
     * requests.
     */
    private synchronized boolean takeCount() {
        boolean counts = countsLeftOut;
        countsLeftOut = false;
        return counts;
    }

    private synchronized void giveCount(boolean counts) {
        countsLeftOut |= counts;
    }

    /**
     * Gives up the rest of a gradient that was begun: the blocks that have not reached the shards count as pushed, without a
     * gradient.
     *
     * @param iteration the number of the learner's iteration
     */
    Dropped giveUp(RemoteModel model, long iteration, Cancellation cancellation) throws IOException {
        givenUp = true;
        for (long from = marksAtBegin.nextExcept(pushed, 0); from >= 0; from = marksAtBegin.nextExcept(pushed, from)) {
            long length = marksAtBegin.endExcept(pushed, from) - from;
            absentBytes += model.absent(from, length, false, cancellation);
            pushed.mark(from, length);
        }
        // After mayBePushed(), the learner might have written nothing yet.
        Dropped dropped = outcome(iteration).and(Math.max(0, dirty.bytes() - marksAtBegin.bytes()));
        end();
        return dropped;
    }

    /**
     * Returns how many bytes were accepted and how many are absent. Must be called only after the shards have received each block
     * of the gradient, with data or as absent.
     */
    Dropped outcome(long iteration) {
        return new Dropped(iteration, marksAtBegin.bytes() - absentBytes, absentBytes, 0);
    }

    /**
     * Returns whether {@link #giveUp} was called for the gradient. If so, the rest of the gradient must not be pushed any more.
     */
    boolean isGivenUp() {
        return givenUp;
    }

    /** Waits until the shards have aggregated all pushed blocks. */
    void synchronize(RemoteModel model, Cancellation cancellation) throws IOException {
        if (unsynchronized) {
            model.synchronize(cancellation);
            unsynchronized = false;
        }
    }

    /**
     * Stores the fingerprint of the gradient whose push an exchange has begun. Only the first call for a gradient has an effect.
     */
    synchronized void remember() {
        if (fingerprint == 0 && marksAtBegin.nextDirty(0) >= 0) {
            fingerprint = GradientFingerprint.of(memory(), marksAtBegin);
        }
    }

    /** Returns whether {@link #remember} has stored a fingerprint that is still in use. */
    boolean isRemembered() {
        return fingerprint != 0;
    }

    /**
     * Checks that the rest of the gradient can be pushed: the buffer still contains the gradient whose push has begun, and the
     * gradient is not given up.
     *
     * @throws ErrnoException EBUSY if not
     */
    void checkRepeatable() throws ErrnoException {
        if (givenUp) {
            throw new ErrnoException(Errno.EBUSY,
                "the gradient of the fsync that failed is being dropped, so nothing was pushed;"
                    + " repeat `" + DROP_COMMAND + "`");
        }
        if (isRemembered() && !holdsRemembered()) {
            throw new ErrnoException(Errno.EBUSY,
                "the shards might have received a part of the gradient of the fsync that failed, but the"
                    + " gradient has changed since then, so nothing was pushed; call fsync again with the same gradient, or drop"
                    + " it with `" + DROP_COMMAND + "`");
        }
    }

    /**
     * Returns whether the gradient in the buffer matches the stored fingerprint. Also returns true if nothing was written after
     * the failed fsync.
     */
    private boolean holdsRemembered() {
        boolean written = isDirty() || buffer.isWhole();
        return !written || fingerprint == GradientFingerprint.of(memory(), isDirty() ? dirty : marksAtBegin);
    }

    /** Deletes the stored fingerprint. */
    void forget() {
        fingerprint = 0;
        ended = false;
        judged &= begun;
    }

    /**
     * Returns whether the exchange of the gradient has succeeded: the shards have accepted the whole gradient, and the new
     * weights were pulled.
     */
    boolean hasEnded() {
        return ended;
    }

    /** Discards everything that was written after the exchange of the gradient had succeeded. */
    void discardWritten() {
        old.bits().add(dirty.bits(), null);
        dirty.bits().clear();
    }

    /** Records that the exchange of the gradient has succeeded. Keeps the fingerprint until {@link #forget}. */
    synchronized void exchanged() {
        long remembered = fingerprint;
        end();
        fingerprint = remembered;
        ended = true;
    }

    /** Discards the gradient. Returns the number of bytes that were written and not pushed. */
    long drop() {
        long dropped = unpushedBytes();
        end();
        unsynchronized = false;
        return dropped;
    }

    /** Ends the gradient: marks its bytes as old, so the next write begins another gradient. */
    void end() {
        old.bits().add(dirty.bits(), null);
        dirty.bits().clear();
        pushed.bits().clear();
        begun = false;
        ended = false;
        judged = false;
        leftOut = false;
        givenUp = false;
        fingerprint = 0;
    }

    /**
     * Marks the bytes of the whole buffer as old. A later write of a part of a logical block then sets the rest of this block to
     * zero.
     */
    void isOld() {
        old.mark(0, bytes);
    }

    /**
     * Records that a process that was killed might have pushed any part of the gradient in the buffer. The learner must then push
     * the same gradient or drop it, even if this process pushes nothing. Must be called after {@link #resume}, for a learner that
     * replaces the whole gradient in each iteration.
     */
    void mayBePushed() {
        if (!begun && !ended) {
            begun = true;
            absentBytes = 0;
            marksAtBegin.mark(0, bytes);
        }
    }

    /** Returns the state of the gradient, without its bytes, for another process. */
    ExchangeImage.Gradient image() {
        return new ExchangeImage.Gradient(unsynchronized, begun, ended, givenUp, absentBytes, fingerprint,
            dirty.bits().words(), pushed.bits().words(), marksAtBegin.bits().words());
    }

    /**
     * Takes over the state of a gradient whose bytes are already in the buffer. The result of the search for NaN and infinity is
     * not saved, so the gradient is searched again.
     */
    void resume(ExchangeImage.Gradient image) {
        unsynchronized = image.unsynchronized();
        begun = image.begun();
        ended = image.ended();
        givenUp = image.givenUp();
        absentBytes = image.absentBytes();
        fingerprint = image.fingerprint();
        dirty.bits().copy(image.dirty());
        pushed.bits().copy(image.pushed());
        marksAtBegin.bits().copy(image.marksAtBegin());
        // The image does not contain the marks of old blocks, so all other blocks are marked as old. At worst, a block of zeros
        // is set to zero again.
        old.mark(0, bytes);
        old.bits().remove(dirty.bits());
    }
}
