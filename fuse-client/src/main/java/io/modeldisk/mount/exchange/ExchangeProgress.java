package io.modeldisk.mount.exchange;

import java.util.Arrays;

/**
 * The progress of one exchange, which determines the next step. The push and the pull are divided into pieces. If the shards
 * check gradients, all pieces are searched for NaN and infinity before the first piece is pushed, because a gradient with such a
 * value must not be pushed in part. The weights of a piece are pulled only after the gradient of this piece was pushed, so the
 * weights are the same as if the whole push had completed before the pull. Later pieces can be pushed while an earlier piece is
 * pulled.
 *
 * <pre>
 * push:  CHECKING ── finite, or to be left out ──> MOVING
 *           │  └──── a NaN or an infinity is refused ──────────────> ENDED
 *           └─────── a piece failed ──> STOPPING
 *
 *        MOVING ── all pieces pushed ──> SYNCHRONIZING ── aggregated, or failed ──> ENDED
 *           └───── a piece failed ──> STOPPING ── no piece in flight ─────────────────^
 *
 * pull:  WAITING ─── the pull is due ───> BEGINNING ──> MOVING ── all pieces pulled ──> COPYING ──> ENDED
 *           │                                 └───────────┴── stopped ──> STOPPING ── none in flight ──^
 *           └── stopped ───────────────────────────────────────────────────────────────────────────────^
 * </pre>
 *
 * <p>A piece of a push consists of whole blocks. The shard relates a pull of a block to the last round in which the learner has
 * pushed the whole block. A pull of a block that is only partly pushed would thus return the weights of the previous round.
 *
 * <p>The pull is stopped when a step of the push or of the pull fails, and when the exchange is cancelled. An exchange that does
 * not copy the pulled weights skips COPYING. Not thread-safe: {@link BackgroundExchange} calls this class under its lock.
 */
final class ExchangeProgress {
    /** The states of the push. */
    enum Push {
        CHECKING, MOVING, STOPPING, SYNCHRONIZING, ENDED
    }

    /** The states of the pull. */
    enum Pull {
        WAITING, BEGINNING, MOVING, COPYING, STOPPING, ENDED
    }

    /** The kinds of steps. A worker executes a step without holding the lock of the exchange. */
    enum StepKind {
        CHECK, PUSH, SYNCHRONIZE, BEGIN_PULL, PULL, COPY, OBSERVE
    }

    /** One step of an exchange. Each worker has one object and reuses it. */
    static final class Step {
        StepKind kind;
        /** The range of a piece, in bytes. */
        long from;
        long end;
        /** True if a CHECK step has found only finite values. */
        boolean finite;
        /** The time when a BEGIN_PULL step began, and whether the shards had received the whole gradient by this time. */
        long startedNs;
        boolean pushed;

        private void set(StepKind newKind, long newFrom, long newEnd) {
            kind = newKind;
            from = newFrom;
            end = newEnd;
        }
    }

    /** The sizes of the pieces of a push. */
    enum Cut {
        /** Small pieces, so a pull can run during the push and lag only one piece behind it. */
        FINE(64, 256 << 10),
        /** Large pieces, for a push that completes before the pull begins. Each piece keeps many requests in flight. */
        COARSE(32, 1 << 20);

        private static final long MAX_PIECE_BYTES = 64 << 20;

        private final int pieces;
        private final long minPieceBytes;

        Cut(int pieces, long minPieceBytes) {
            this.pieces = pieces;
            this.minPieceBytes = minPieceBytes;
        }

        private long pieceBytes(long bytes, long blockBytes) {
            // A pull of a block must not begin while a part of the block is not pushed. Both sizes are powers of two.
            long unit = Math.max(minPieceBytes, blockBytes);
            long part = (bytes / pieces + unit - 1) / unit * unit;
            return Math.clamp(part, unit, MAX_PIECE_BYTES);
        }
    }

    // While one piece waits for its last responses, the requests of the next piece are already in flight.
    private static final int MAX_CONCURRENT = 2;
    private static final int MAX_CONCURRENT_CHECKS = 4;
    private static final long PULL_PIECE_BYTES = 8 << 20;

    private final long bytes;
    private final long blockBytes;
    private final boolean[] pushed;

    private Push push = Push.ENDED;
    private long pushPieceBytes;
    private long nextCheck;
    private boolean finite;
    private long nextPush;
    private long pushedTo;
    private long pushedBytes;
    private int pushesUnderWay;

    private Pull pull = Pull.ENDED;
    private long pullPieceBytes;
    private long nextPull;
    private int pullsUnderWay;
    private boolean copies;
    private boolean observes;
    private boolean observing;

    /**
     * Creates the progress for a model. In the initial state, no exchange is in progress.
     *
     * @param bytes the size of the model
     * @param blockBytes the size of a block, a power of two
     */
    ExchangeProgress(long bytes, int blockBytes) {
        this.bytes = bytes;
        this.blockBytes = blockBytes;
        long smallest = Cut.FINE.pieceBytes(bytes, blockBytes);
        this.pushed = new boolean[Math.toIntExact((bytes + smallest - 1) / smallest)];
    }

    /**
     * Resets the progress to the start of an exchange.
     *
     * @param pushes whether a gradient is pushed before the weights are pulled
     * @param checks whether the gradient is searched for NaN and infinity before it is pushed
     * @param copying whether the weights are copied after the pull
     */
    void begin(boolean pushes, boolean checks, boolean copying, Cut cut) {
        push = !pushes ? Push.ENDED : checks ? Push.CHECKING : Push.MOVING;
        pushPieceBytes = cut.pieceBytes(bytes, blockBytes);
        Arrays.fill(pushed, false);
        nextCheck = 0;
        finite = true;
        nextPush = 0;
        pushedTo = pushes ? 0 : bytes;
        pushedBytes = 0;
        pull = Pull.WAITING;
        nextPull = 0;
        copies = copying;
        // An OBSERVE step requests the version of the model. No second request starts while one request is in flight.
        observes = pushes && !observing;
    }

    Push push() {
        return push;
    }

    Pull pull() {
        return pull;
    }

    boolean hasEnded() {
        return push == Push.ENDED && pull == Pull.ENDED;
    }

    /** Returns whether the shards have received the whole gradient. */
    boolean isPushed() {
        return pushedTo == bytes;
    }

    /** Returns the number of gradient bytes that the shards have accepted. */
    long pushedBytes() {
        return pushedBytes;
    }

    /** Records that the pull is allowed to begin. */
    void pullIsDue() {
        if (pull == Pull.WAITING) {
            pull = Pull.BEGINNING;
        }
    }

    /** Stores the next step in {@code step}. Returns false if no step can start now. */
    boolean next(Step step) {
        return nextOfPush(step) || nextOfPull(step) || nextObservation(step);
    }

    private boolean nextOfPush(Step step) {
        if (push == Push.CHECKING && finite && pushesUnderWay < MAX_CONCURRENT_CHECKS && nextCheck < bytes) {
            step.set(StepKind.CHECK, nextCheck, Math.min(bytes, nextCheck + pushPieceBytes));
            nextCheck = step.end;
        } else if (push == Push.MOVING && pushesUnderWay < MAX_CONCURRENT && nextPush < bytes) {
            step.set(StepKind.PUSH, nextPush, Math.min(bytes, nextPush + pushPieceBytes));
            nextPush = step.end;
        } else if (push == Push.SYNCHRONIZING && pushesUnderWay == 0) {
            step.set(StepKind.SYNCHRONIZE, 0, bytes);
        } else {
            return false;
        }
        pushesUnderWay++;
        return true;
    }

    private boolean nextOfPull(Step step) {
        if (pull == Pull.BEGINNING && pullsUnderWay == 0) {
            step.set(StepKind.BEGIN_PULL, 0, bytes);
        } else if (pull == Pull.MOVING && pullsUnderWay < MAX_CONCURRENT && nextPull < pushedTo) {
            step.set(StepKind.PULL, nextPull, Math.min(pushedTo, nextPull + pullPieceBytes));
            nextPull = step.end;
        } else if (pull == Pull.COPYING && pullsUnderWay == 0) {
            step.set(StepKind.COPY, 0, bytes);
        } else {
            return false;
        }
        pullsUnderWay++;
        return true;
    }

    private boolean nextObservation(Step step) {
        if (!observes) {
            return false;
        }
        observes = false;
        observing = true;
        step.set(StepKind.OBSERVE, 0, 0);
        return true;
    }

    /** Records that a step has ended, and the number of bytes that the step has pushed. */
    void ended(Step step, long stepBytes, boolean failed) {
        switch (step.kind) {
            case CHECK, PUSH, SYNCHRONIZE -> pushStepEnded(step, stepBytes, failed);
            case BEGIN_PULL, PULL, COPY -> pullStepEnded(step, failed);
            case OBSERVE -> observing = false;
        }
    }

    /** Returns whether the search of the gradient has ended, so {@link #judged} must be called next. */
    boolean isToBeJudged() {
        return push == Push.CHECKING && pushesUnderWay == 0 && (!finite || nextCheck == bytes);
    }

    /** Returns whether the search has found only finite values. */
    boolean isFinite() {
        return finite;
    }

    /** Begins the push after the search of the gradient, or ends the exchange if {@code pushes} is false. */
    void judged(boolean pushes) {
        push = pushes ? Push.MOVING : Push.ENDED;
        if (!pushes) {
            stopPull();
        }
    }

    private void pushStepEnded(Step step, long stepBytes, boolean failed) {
        pushesUnderWay--;
        if (failed) {
            push = Push.STOPPING;
            stopPull();
        } else if (step.kind == StepKind.CHECK) {
            finite &= step.finite;
        } else if (step.kind == StepKind.PUSH) {
            pushedBytes += stepBytes;
            pushed[(int) (step.from / pushPieceBytes)] = true;
            while (pushedTo < bytes && pushed[(int) (pushedTo / pushPieceBytes)]) {
                pushedTo = Math.min(bytes, pushedTo + pushPieceBytes);
            }
        }
        if (push == Push.STOPPING && pushesUnderWay == 0 || push == Push.SYNCHRONIZING) {
            push = Push.ENDED;
        } else if (push == Push.MOVING && isPushed()) {
            push = Push.SYNCHRONIZING;
        }
    }

    private void pullStepEnded(Step step, boolean failed) {
        pullsUnderWay--;
        if (failed && pull != Pull.STOPPING) {
            stopPull();
        } else if (pull == Pull.STOPPING) {
            pull = pullsUnderWay == 0 ? Pull.ENDED : Pull.STOPPING;
        } else if (step.kind == StepKind.BEGIN_PULL) {
            // If the whole gradient is pushed, one call pulls the whole model.
            pullPieceBytes = isPushed() ? bytes : PULL_PIECE_BYTES;
            pull = Pull.MOVING;
        } else if (step.kind == StepKind.COPY) {
            pull = Pull.ENDED;
        } else if (nextPull == bytes && pullsUnderWay == 0) {
            pull = copies ? Pull.COPYING : Pull.ENDED;
        }
    }

    /** Stops the pull: no further piece is pulled. */
    void stopPull() {
        if (pull != Pull.ENDED) {
            pull = pullsUnderWay == 0 ? Pull.ENDED : Pull.STOPPING;
        }
    }

    /** Stops the push and the pull: no further piece is pushed or pulled. */
    void stop() {
        stopPull();
        if (push == Push.MOVING || push == Push.CHECKING) {
            push = pushesUnderWay == 0 ? Push.ENDED : Push.STOPPING;
        }
    }
}
