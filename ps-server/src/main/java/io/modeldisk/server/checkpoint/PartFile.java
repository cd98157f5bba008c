package io.modeldisk.server.checkpoint;

import io.modeldisk.server.model.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * The layout of the file that a shard adds to a checkpoint: a safetensors file with the versions and checksums of its blocks, and
 * with their aggregator state. The file exists only if the shard has written all its blocks.
 *
 * @param blocks the number of blocks of the shard
 * @param stateBytes the size of the aggregator state of all blocks
 */
record PartFile(int blocks, long stateBytes) {
    static String name(int shard, int shards) {
        return "state-%05d-of-%05d.safetensors".formatted(shard + 1, shards);
    }

    byte[] head() {
        List<Tensor> tensors = new ArrayList<>();
        tensors.add(new Tensor("versions", "I64", new long[]{blocks}, 0, versionsBytes()));
        tensors.add(new Tensor("crc32c", "U32", new long[]{blocks}, versionsBytes(), stateStart()));
        if (stateBytes > 0) {
            tensors.add(new Tensor("state", "F32", new long[]{stateBytes / Float.BYTES}, stateStart(),
                stateStart() + stateBytes));
        }
        return SafetensorsHead.encode(tensors);
    }

    private long versionsBytes() {
        return (long) blocks * Long.BYTES;
    }

    /** The size of the versions and checksums, which is also the offset of the aggregator state in the data of the file. */
    long stateStart() {
        return versionsBytes() + (long) blocks * Integer.BYTES;
    }
}
