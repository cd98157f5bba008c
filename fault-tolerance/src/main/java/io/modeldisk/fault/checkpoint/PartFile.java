package io.modeldisk.fault.checkpoint;

import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.model.Tensor;
import io.modeldisk.platform.text.PlainText;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The layout of the file that a shard adds to a checkpoint: a safetensors file with the versions and checksums of its blocks,
 * with the changes of the learning rate, and with the aggregator state of its blocks. Each row of the changes contains the first
 * round and the rate; the rate of an unused row is 0. The file exists only if the shard has written all its blocks.
 *
 * @param blocks the number of blocks of the shard
 * @param stateBytes the size of the aggregator state of all blocks
 */
record PartFile(int blocks, long stateBytes) {
    static String name(int shard, int shards) {
        return PlainText.format("state-%05d-of-%05d.safetensors", shard + 1, shards);
    }

    byte[] head() {
        List<Tensor> tensors = new ArrayList<>();
        tensors.add(new Tensor("versions", "I64", new long[]{blocks}, 0, versionsBytes()));
        tensors.add(new Tensor("learning_rate", "F64", new long[]{LearningRate.MAX_CHANGES, 2}, versionsBytes(),
            checksumsStart()));
        tensors.add(new Tensor("crc32c", "U32", new long[]{blocks}, checksumsStart(), stateStart()));
        if (stateBytes > 0) {
            tensors.add(new Tensor("state", "F32", new long[]{stateBytes / Float.BYTES}, stateStart(),
                stateStart() + stateBytes));
        }
        return SafetensorsHead.encode(tensors);
    }

    private long versionsBytes() {
        return (long) blocks * Long.BYTES;
    }

    private long checksumsStart() {
        return versionsBytes() + 2L * Double.BYTES * LearningRate.MAX_CHANGES;
    }

    /** The offset of the aggregator state in the data of the file. */
    long stateStart() {
        return checksumsStart() + (long) blocks * Integer.BYTES;
    }

    /** Encodes the data before the aggregator state. The arrays have an element for each block. */
    ByteBuffer encode(long[] versions, List<LearningRate.Change> changes, int[] checksums) {
        ByteBuffer data = buffer();
        data.asLongBuffer().put(versions);
        data.position(Math.toIntExact(versionsBytes()));
        for (LearningRate.Change change : changes) {
            data.putDouble(change.fromRound()).putDouble(change.rate());
        }
        data.position(Math.toIntExact(checksumsStart()));
        data.asIntBuffer().put(checksums);
        return data.rewind();
    }

    /** Returns memory for the data before the aggregator state. */
    ByteBuffer buffer() {
        return ByteBuffer.allocate(Math.toIntExact(stateStart())).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Decodes the versions and checksums. Returns the changes of the learning rate. */
    List<LearningRate.Change> decode(ByteBuffer data, long[] versions, int[] checksums) {
        data.rewind().asLongBuffer().get(versions);
        data.position(Math.toIntExact(versionsBytes()));
        List<LearningRate.Change> changes = new ArrayList<>();
        for (int i = 0; i < LearningRate.MAX_CHANGES; i++) {
            long fromRound = (long) data.getDouble();
            float rate = (float) data.getDouble();
            if (rate > 0) {
                changes.add(new LearningRate.Change(fromRound, rate));
            }
        }
        data.position(Math.toIntExact(checksumsStart())).asIntBuffer().get(checksums);
        return changes;
    }
}
