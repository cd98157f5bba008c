package io.modeldisk.fault.record;

/**
 * The kinds of records. The code of a kind is its byte in the {@link RecordHeader}. The fields of the header that a kind does not
 * name are 0.
 */
public enum RecordKind {
    /**
     * A piece of a gradient was accepted: block, range, learner (0 if unknown), round (-1 if the push has no round), and version
     * of the block after the piece. The body is the gradient. With {@link RecordHeader#WITHOUT_DATA} there is no body, and the
     * piece only counts for its round. In asp and ssp the gradient was applied to the weights; in bsp it was added to the sum of
     * the open round.
     */
    PUSH(1),
    /** The open round of a block was closed and applied: block, round that is open now, and new version of the block. */
    CLOSE(2),
    /** Weights were replaced: block, range and version. The body is the new weights. */
    RAW(3),
    /** The learners changed. */
    LEARNER(4),
    /**
     * A checkpoint has saved a block: block, open round (-1 if the mode has no open rounds), version, and the number of the
     * checkpoint. Earlier records of the block are part of the checkpoint. The body is what the checkpoint does not have: the
     * open round, with its sum and its contributions, and the logical blocks that each learner has pushed.
     */
    BLOCK(5),
    /**
     * A whole block, for a backup that might not have it: block and version. The body is the {@link BlockStamps stamp} of the
     * block, its weights and its aggregator state. The next record is a {@link #BLOCK} with the rest. With
     * {@link RecordHeader#WITHOUT_DATA} the body is only the stamp, and no BLOCK follows. If the block is -1, the version is the
     * number of the history of the shard (see JOIN in PROTOCOL.md).
     */
    IMAGE(6),
    /** All learners, rounds and partitions. Later records need no earlier record of the learners. */
    ROSTER(7),
    /** All changes of the learning rate. */
    RATE(8);

    private static final RecordKind[] OF_CODE = new RecordKind[9];

    static {
        for (RecordKind kind : values()) {
            OF_CODE[kind.code] = kind;
        }
    }

    private final byte code;

    RecordKind(int code) {
        this.code = (byte) code;
    }

    /** True if a record of this kind changes its block. */
    public boolean changesBlock() {
        return this == PUSH || this == CLOSE || this == RAW;
    }

    byte code() {
        return code;
    }

    /** Returns the kind with this code; null if there is none. */
    static RecordKind of(byte code) {
        return code < 0 || code >= OF_CODE.length ? null : OF_CODE[code];
    }
}
