package io.modeldisk.mount.exchange;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;

/**
 * One pull of the whole model: at once, or while a push goes on, each piece after its own gradient. Then two threads do it: while
 * one waits for the end of its piece, the other's is already on its way. For one use.
 */
final class WeightsPull {
    private static final long MAX_PIECE_BYTES = 8 << 20;

    private final RemoteModel model;
    private final DataMemory weights;
    private final long bytes;
    private final PushProgress progress;
    private final Cancellation cancellation;
    private final LongSupplier nanoClock;
    // Guarded by this.
    private long next;
    /** While one thread waits for a piece, with this one's lock, the other's ends. */
    private final Object busy = new Object();
    private int underWay;
    private long busySinceNs;
    private long busyNs;

    WeightsPull(RemoteModel model, DataMemory weights, long bytes, PushProgress progress, Cancellation cancellation,
        LongSupplier nanoClock) {
        this.model = model;
        this.weights = weights;
        this.bytes = bytes;
        this.progress = progress;
        this.cancellation = cancellation;
        this.nanoClock = nanoClock;
    }

    /** Pulls; false if the push was stopped before all was pulled. Nothing is pulled any more when this returns or throws. */
    boolean run() throws IOException {
        return progress.isComplete() ? pullPieces(bytes) : pullBesidePush();
    }

    /** How long anything was being pulled, in nanoseconds: without what the pull waited for the push. When it is over. */
    long busyNs() {
        synchronized (busy) {
            return busyNs;
        }
    }

    private boolean pullBesidePush() throws IOException {
        FutureTask<Boolean> other = new FutureTask<>(() -> pullPieces(MAX_PIECE_BYTES));
        Thread.ofPlatform().name("modeldisk-pull-beside").daemon().start(other);
        boolean pulled;
        try {
            pulled = pullPieces(MAX_PIECE_BYTES);
        } catch (IOException | RuntimeException | Error e) {
            stop();
            try {
                join(other);
            } catch (IOException | RuntimeException inOther) {
                // Most often that it was cancelled, here.
                e.addSuppressed(inOther);
            }
            throw e;
        }
        if (!pulled) {
            stop();
        }
        return join(other) && pulled;
    }

    private void stop() {
        progress.stop();
        cancellation.cancel();
    }

    private static boolean join(FutureTask<Boolean> task) throws IOException {
        try {
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failed) {
                throw failed;
            }
            throw new IllegalStateException("a pull failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the thread was interrupted");
        }
    }

    /** Pulls what no other thread has taken, piece by piece. */
    private boolean pullPieces(long mostBytes) throws IOException {
        while (true) {
            long at;
            long end;
            synchronized (this) {
                at = next;
                long pushedTo = at == bytes ? bytes : progress.awaitBeyond(at);
                if (pushedTo < 0 || at == bytes) {
                    return at == bytes;
                }
                end = Math.min(pushedTo, at + mostBytes);
                next = end;
            }
            pieceBegins();
            try {
                model.pull(at, weights, at, end - at, cancellation);
            } finally {
                pieceEnds();
            }
        }
    }

    private void pieceBegins() {
        synchronized (busy) {
            if (underWay++ == 0) {
                busySinceNs = nanoClock.getAsLong();
            }
        }
    }

    private void pieceEnds() {
        synchronized (busy) {
            if (--underWay == 0) {
                busyNs += nanoClock.getAsLong() - busySinceNs;
            }
        }
    }
}
