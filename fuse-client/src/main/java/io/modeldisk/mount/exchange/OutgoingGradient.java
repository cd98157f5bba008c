package io.modeldisk.mount.exchange;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;

/**
 * The gradient in the buffer of a {@link BufferSet}, from its first write until its exchange has succeeded: the logical blocks
 * that the learner has written, those that the shards have accepted, and what becomes of the others. Until then, the buffer
 * keeps the gradient, so a repeated fsync can be compared with the one that has begun to push it.
 *
 * <pre>
 *   written ── pushBegins, judge ──> begun ── exchanged ──> ended ── forget ──> none
 *      ^                              │  └── giveUp ──────────────────────────────^
 *      └── refused: nothing was sent ─┘
 * </pre>
 *
 * <p>{@link #write} and {@link #written} are thread-safe, and {@link #push} for different ranges. Only the owner of the set may
 * call the other methods.
 */
final class OutgoingGradient {
    private static final String DROP_COMMAND = "setfattr -n user.modeldisk.drop DIR/model";

    private final BufferSet buffer;
    private final long bytes;
    /** The blocks of the gradient. */
    private final DirtyBlocks dirty;
    /** The blocks of the gradient that the shards have accepted. */
    private final DirtyBlocks pushed;
    /** The blocks whose bytes are those of an earlier gradient. Changed under its own monitor while the learner writes. */
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
    /** The number of bytes of the gradient that are absent: it was left out, or {@link #giveUp} has marked them. */
    private long absentBytes;
    /** 0 if no gradient is remembered. */
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

    /** Returns whether the gradient has a block: one was written since the gradient began. */
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

    /** Returns whether a part of the gradient may have reached the shards, so the rest belongs to the same round. */
    boolean isBegun() {
        return begun;
    }

    /** Returns whether the written values of a range are finite. Values beyond {@code end} are not values of the model. */
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

    /** Returns whether it is known what {@link #push} does with the gradient. */
    boolean isJudged() {
        return judged;
    }

    /** Sets what {@link #push} does with the gradient from now on: pushes it, or marks it as absent. */
    synchronized void judge(boolean finite) {
        judged = true;
        leftOut = !finite;
        countsLeftOut = leftOut && !begun;
    }

    /** Records that an exchange begins to push the gradient, or the rest of it. No write is in progress. */
    void pushBegins() {
        // An fsync that is repeated after its exchange has succeeded has nothing to push, and the gradient stays the same.
        if (!begun && (!ended || isDirty())) {
            ended = false;
            absentBytes = 0;
            marksAtBegin.bits().copy(dirty.bits().words());
        }
    }

    /**
     * Pushes the blocks of a range that were written and not yet pushed, or marks them as absent if the gradient is left out. The
     * buffer keeps the gradient until {@link #end}. Several threads may push different ranges at the same time.
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

    /** Returns true to one caller for each gradient that is left out: the shards count gradients, not requests. */
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
        Dropped dropped = outcome(iteration).and(dirty.bytes() - marksAtBegin.bytes());
        end();
        return dropped;
    }

    /** Returns what has become of a gradient of which the shards have each block, with a gradient or as absent. */
    Dropped outcome(long iteration) {
        return new Dropped(iteration, marksAtBegin.bytes() - absentBytes, absentBytes, 0);
    }

    /** Returns whether {@link #giveUp} was called for the gradient. The rest of it must not be pushed any more. */
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

    /** Records which gradient an exchange has begun to push. Only the first call for a gradient has an effect. */
    synchronized void remember() {
        if (fingerprint == 0 && marksAtBegin.nextDirty(0) >= 0) {
            fingerprint = GradientFingerprint.of(memory(), marksAtBegin);
        }
    }

    /** Returns whether a gradient is remembered. */
    boolean isRemembered() {
        return fingerprint != 0;
    }

    /**
     * Checks that the rest of the gradient may be pushed: the buffer still has the gradient that an exchange has begun to push,
     * and the gradient is not given up.
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
                "the shards may have a part of the gradient of the fsync that failed, and the"
                    + " gradient is another one now, so nothing was pushed; call fsync again with the same gradient, or give it"
                    + " up with `" + DROP_COMMAND + "`");
        }
    }

    /** Returns whether the gradient in the buffer is the remembered one, which is also true if none was written after it. */
    private boolean holdsRemembered() {
        boolean written = isDirty() || buffer.isWhole();
        return !written || fingerprint == GradientFingerprint.of(memory(), isDirty() ? dirty : marksAtBegin);
    }

    /** Forgets the remembered gradient. */
    void forget() {
        fingerprint = 0;
        ended = false;
        judged &= begun;
    }

    /** Returns whether the shards have accepted the whole remembered gradient, and the weights after it were pulled. */
    boolean hasEnded() {
        return ended;
    }

    /** Discards what was written after the exchange of the remembered gradient had succeeded. */
    void discardWritten() {
        old.bits().add(dirty.bits(), null);
        dirty.bits().clear();
    }

    /** Records that the exchange of the gradient has succeeded. A fingerprint stays until {@link #forget}. */
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

    /** Ends the gradient: its bytes are old from now on, and the next write begins another gradient. */
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

    /** Records that the bytes of the whole buffer are old, so the next write clears what it does not cover. */
    void isOld() {
        old.mark(0, bytes);
    }

    /** Returns the state of the gradient, without its bytes, for another process. */
    ExchangeImage.Gradient image() {
        return new ExchangeImage.Gradient(unsynchronized, begun, ended, givenUp, absentBytes, fingerprint,
            dirty.bits().words(), pushed.bits().words(), marksAtBegin.bits().words());
    }

    /** Takes over the state of a gradient whose bytes are in the buffer. It is searched again, because the bytes are the same. */
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
        // Which other blocks have old bytes is not known. A block of zeros may be cleared once more.
        old.mark(0, bytes);
        old.bits().remove(dirty.bits());
    }
}
