package io.modeldisk.protocol.initiator;

/**
 * The number and address of a shard.
 *
 * @param index the shard's number in its model, from 0; {@link #UNKNOWN} for a target that is not used as a shard
 * @param address the target's portal, such as {@code 127.0.0.1:3260}
 */
public record ShardId(int index, String address) {
    /** The index of a target that is not used as a shard. */
    public static final int UNKNOWN = -1;

    /** Returns the text that names the shard in messages, such as {@code shard 1 at 127.0.0.1:3261}. */
    @Override
    public String toString() {
        return index == UNKNOWN ? "shard " + address : "shard " + index + " at " + address;
    }
}
