package io.modeldisk.mount.exchange;

import java.io.InterruptedIOException;
import java.util.Arrays;

/** The pieces of a push that several threads share: which is next, and up to where all have been pushed. Thread-safe. */
final class PushProgress {
    /** How a push is cut up. */
    enum Cut {
        /** For a pull beside it, which follows a piece behind. */
        FINE(64, 256 << 10),
        /** For a push alone, of which a piece keeps many requests under way. */
        COARSE(32, 1 << 20);

        private final int pieces;
        private final long minPieceBytes;

        Cut(int pieces, long minPieceBytes) {
            this.pieces = pieces;
            this.minPieceBytes = minPieceBytes;
        }

        private long pieceBytes(long bytes) {
            long part = (bytes / pieces + minPieceBytes - 1) / minPieceBytes * minPieceBytes;
            return Math.clamp(part, minPieceBytes, SyncExchange.PUSH_BYTES);
        }
    }

    private final long bytes;
    private final boolean[] ended;
    private long pieceBytes;
    private long next;
    private long pushedTo;
    private long pushedBytes;
    private int atWork;
    private boolean failed;
    private boolean stopped;

    /** Of so many bytes; all is pushed, until {@link #begin}. */
    PushProgress(long bytes) {
        this.bytes = bytes;
        this.pieceBytes = Cut.FINE.pieceBytes(bytes);
        this.ended = new boolean[Math.toIntExact((bytes + pieceBytes - 1) / pieceBytes)];
        this.pushedTo = bytes;
    }

    /** Begins anew, with so many threads. */
    synchronized void begin(int threads, Cut cut) {
        pieceBytes = cut.pieceBytes(bytes);
        Arrays.fill(ended, false);
        next = 0;
        pushedTo = 0;
        pushedBytes = 0;
        atWork = threads;
        failed = false;
        stopped = false;
    }

    /** Who waits for a piece waits no more. */
    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    synchronized boolean isStopped() {
        return stopped;
    }

    /** Waits until more is done than up to here; answers up to where, or -1 if it was stopped. */
    synchronized long awaitBeyond(long at) throws InterruptedIOException {
        try {
            while (pushedTo <= at && !stopped) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the thread was interrupted");
        }
        return stopped ? -1 : pushedTo;
    }

    /** Where the next piece begins; -1 if there is none, or if another has failed. */
    synchronized long take() {
        if (next >= bytes || failed) {
            return -1;
        }
        long at = next;
        next += pieceBytes;
        return at;
    }

    /** Where the piece ends that begins here. */
    synchronized long end(long at) {
        return Math.min(bytes, at + pieceBytes);
    }

    /**
     * A piece is done.
     *
     * @param pushed how many of its bytes were pushed: those that had been written
     * @return whether it was the last
     */
    synchronized boolean pushed(long at, long pushed) {
        ended[(int) (at / pieceBytes)] = true;
        pushedBytes += pushed;
        while (pushedTo < bytes && ended[(int) (pushedTo / pieceBytes)]) {
            pushedTo = end(pushedTo);
        }
        notifyAll();
        return pushedTo == bytes;
    }

    /** A thread takes no more pieces; answers whether it is the last to do so. */
    synchronized boolean leave(boolean hasFailed) {
        failed |= hasFailed;
        return --atWork == 0;
    }

    /** Whether every piece is done. */
    synchronized boolean isComplete() {
        return pushedTo == bytes;
    }

    /** How many bytes were pushed. */
    synchronized long pushedBytes() {
        return pushedBytes;
    }
}
