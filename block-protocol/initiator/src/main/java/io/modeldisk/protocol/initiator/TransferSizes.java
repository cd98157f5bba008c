package io.modeldisk.protocol.initiator;

/**
 * How an initiator cuts its transfers. The best values depend on the machine and the datamover; {@code modeldisk tune} finds
 * them.
 *
 * @param eagerBytes how much of a write is sent with its command (ImmediateData, FirstBurstLength); the target fetches the rest.
 *     0, or 512 bytes to 256 KiB. Not used over shared memory; over iSER only a write of up to 8 KiB is sent with its command
 * @param requestBytes one command moves neighbouring blocks of a shard up to this size, and never a part of a block: a power of
 *     two from 4 KiB to 8 MiB. Blocks have neighbours only if the model has a single shard
 * @param queueDepth the number of commands in flight on a shard, 1 to 1023; a shard accepts 32 of a session by default
 */
public record TransferSizes(int eagerBytes, int requestBytes, int queueDepth) {
    /** The least FirstBurstLength (RFC 7143 section 13.14). */
    public static final int MIN_EAGER_BYTES = 512;

    /** The most that a shard accepts with a command. */
    public static final int MAX_EAGER_BYTES = 256 << 10;

    /** A logical block. */
    public static final int MIN_REQUEST_BYTES = 4096;

    /** The most that one command may move. */
    public static final int MAX_REQUEST_BYTES = 8 << 20;

    /** The greatest queue depth. */
    public static final int MAX_QUEUE_DEPTH = 1023;

    /** The sizes that are used if nothing was measured. */
    public static final TransferSizes DEFAULTS = new TransferSizes(256 << 10, 256 << 10, 32);

    /** Checks the values. */
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
