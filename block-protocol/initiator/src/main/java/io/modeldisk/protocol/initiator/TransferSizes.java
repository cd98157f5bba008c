package io.modeldisk.protocol.initiator;

/**
 * How an initiator cuts what it moves: what is best depends on the machine and the datamover, and {@code modeldisk tune} finds
 * it.
 *
 * @param eagerBytes how much of a write travels with its command (ImmediateData, FirstBurstLength), the rest is fetched by the
 *     target; 0, or 512 to 256 KiB. Over shared memory nothing travels, over iSER only a write that fits as a whole, up to 8 KiB
 * @param requestBytes neighbouring blocks of a shard go in one command up to this size, which never cuts a block: a power of two
 *     from 4 KiB to 8 MiB. Blocks have neighbours only where a model has a single shard
 * @param queueDepth how many commands are in flight on a shard, 1 to 1023; a shard takes 32 of a session unless set otherwise
 */
public record TransferSizes(int eagerBytes, int requestBytes, int queueDepth) {
    /** The least that RFC 7143 lets FirstBurstLength be. */
    public static final int MIN_EAGER_BYTES = 512;

    /** The most that a shard has memory for at once. */
    public static final int MAX_EAGER_BYTES = 256 << 10;

    /** A logical block. */
    public static final int MIN_REQUEST_BYTES = 4096;

    /** The most that a shard takes in one command. */
    public static final int MAX_REQUEST_BYTES = 8 << 20;

    /** The deepest queue that there can be. */
    public static final int MAX_QUEUE_DEPTH = 1023;

    /** Where nothing has been measured. */
    public static final TransferSizes DEFAULTS = new TransferSizes(256 << 10, 256 << 10, 32);

    /** Checks what is given. */
    public TransferSizes {
        if (eagerBytes != 0 && (eagerBytes < MIN_EAGER_BYTES || eagerBytes > MAX_EAGER_BYTES)) {
            throw new IllegalArgumentException("eagerBytes=" + eagerBytes + " must be 0, or from 512 to 262144");
        }
        if (requestBytes < MIN_REQUEST_BYTES || requestBytes > MAX_REQUEST_BYTES
            || Integer.bitCount(requestBytes) != 1) {
            throw new IllegalArgumentException(
                "requestBytes=" + requestBytes + " must be a power of two from 4096 to 8388608");
        }
        if (queueDepth < 1 || queueDepth > MAX_QUEUE_DEPTH) {
            throw new IllegalArgumentException("queueDepth=" + queueDepth + " must be from 1 to 1023");
        }
    }

    /** The same with another eager threshold. */
    public TransferSizes withEagerBytes(int bytes) {
        return new TransferSizes(bytes, requestBytes, queueDepth);
    }

    /** The same with requests of another size. */
    public TransferSizes withRequestBytes(int bytes) {
        return new TransferSizes(eagerBytes, bytes, queueDepth);
    }

    /** The same with a queue of another depth. */
    public TransferSizes withQueueDepth(int depth) {
        return new TransferSizes(eagerBytes, requestBytes, depth);
    }
}
