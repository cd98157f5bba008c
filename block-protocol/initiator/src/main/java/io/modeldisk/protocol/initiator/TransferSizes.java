package io.modeldisk.protocol.initiator;

/**
 * The sizes that determine how an initiator divides transfers into commands. The best values depend on the machine and the
 * datamover; {@code modeldisk tune} finds them.
 *
 * @param eagerBytes the maximum number of bytes of a write that are sent together with the command (ImmediateData,
 *     FirstBurstLength): 0, or 512 bytes to 256 KiB. The target requests the remaining bytes. Shared memory ignores this value.
 *     iSER sends data with the command only for writes of at most 8 KiB
 * @param requestBytes the maximum size of a command that covers several adjacent blocks: a power of two from 4 KiB to 8 MiB. The
 *     value has an effect only if it is larger than the block size, and only in a model with one shard
 * @param queueDepth the maximum number of commands in flight on a shard, 1 to 1023. By default, a shard accepts at most 32
 *     commands of a session at the same time
 */
public record TransferSizes(int eagerBytes, int requestBytes, int queueDepth) {
    /** The minimum of FirstBurstLength (RFC 7143 section 13.14). */
    public static final int MIN_EAGER_BYTES = 512;

    /** The maximum number of bytes of a write that a shard accepts with the command. */
    public static final int MAX_EAGER_BYTES = 256 << 10;

    /** The minimum of {@code requestBytes}, which is the size of a logical block. */
    public static final int MIN_REQUEST_BYTES = 4096;

    /** The maximum of {@code requestBytes}. */
    public static final int MAX_REQUEST_BYTES = 8 << 20;

    /** The maximum of {@code queueDepth}. */
    public static final int MAX_QUEUE_DEPTH = 1023;

    /** The default sizes, for a machine on which {@code modeldisk tune} was not run. */
    public static final TransferSizes DEFAULTS = new TransferSizes(256 << 10, 256 << 10, 32);

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

    public TransferSizes withEagerBytes(int bytes) {
        return new TransferSizes(bytes, requestBytes, queueDepth);
    }

    public TransferSizes withRequestBytes(int bytes) {
        return new TransferSizes(eagerBytes, bytes, queueDepth);
    }

    public TransferSizes withQueueDepth(int depth) {
        return new TransferSizes(eagerBytes, requestBytes, depth);
    }
}
