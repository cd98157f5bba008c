package io.modeldisk.striping;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.TransferSizes;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Tests that the shards together store the whole model, for any model size and number of shards. */
class StripingTest {
    private static final int LOGICAL_BLOCK = 4096;

    private static ModelFacts random(RepetitionInfo info, int shard) {
        Random random = new Random(info.getCurrentRepetition());
        int block = LOGICAL_BLOCK << random.nextInt(5);
        int shards = 1 + random.nextInt(9);
        long bytes = 4 * (1 + random.nextLong(40L * block / 4));
        return new ModelFacts("m", bytes, block, shard % shards, shards, "assign", "asp", 1, "zeros");
    }

    private static long padded(ModelFacts facts) {
        return (facts.sizeBytes() + LOGICAL_BLOCK - 1) / LOGICAL_BLOCK * LOGICAL_BLOCK;
    }

    @RepeatedTest(50)
    void logicalBlocksOfAShardHaveDifferentOffsets(RepetitionInfo info) {
        ModelFacts model = random(info, 0);
        Striping striping = new Striping(model.blockSizeBytes(), model.shards(), TransferSizes.DEFAULTS.requestBytes());
        BitSet[] used = new BitSet[model.shards()];
        for (long at = 0; at < padded(model); at += LOGICAL_BLOCK) {
            int shard = striping.shard(at);
            used[shard] = used[shard] == null ? new BitSet() : used[shard];
            int place = (int) (striping.offsetOnShard(at) / LOGICAL_BLOCK);
            assertThat(used[shard].get(place)).as("the offset is used twice").isFalse();
            used[shard].set(place);
        }
        for (int i = 0; i < model.shards(); i++) {
            long bytes = random(info, i).bytesOfShard();
            int blocks = used[i] == null ? 0 : used[i].cardinality();
            assertThat(blocks * (long) LOGICAL_BLOCK).as("bytes used on shard %d", i).isEqualTo(bytes);
            assertThat(used[i] == null ? 0 : used[i].length()).as("number of offsets on shard %d", i).isEqualTo(blocks);
        }
    }

    @RepeatedTest(50)
    void sumOfTheShardSizesIsTheModelSizeRoundedUpToALogicalBlock(RepetitionInfo info) {
        ModelFacts model = random(info, 0);
        long sum = 0;
        for (int i = 0; i < model.shards(); i++) {
            sum += random(info, i).bytesOfShard();
        }
        assertThat(sum).isEqualTo(padded(model));
    }

    @RepeatedTest(50)
    void oneCommandMovesContiguousBytesOfOneShard(RepetitionInfo info) {
        ModelFacts model = random(info, 0);
        Striping striping = new Striping(model.blockSizeBytes(), model.shards(), TransferSizes.DEFAULTS.requestBytes());
        for (long at = 0; at < padded(model); at += LOGICAL_BLOCK) {
            long last = at + striping.contiguousBytes(at) - LOGICAL_BLOCK;
            assertThat(striping.shard(last)).isEqualTo(striping.shard(at));
            assertThat(striping.offsetOnShard(last) - striping.offsetOnShard(at)).isEqualTo(last - at);
        }
    }

    @Test
    void oneCommandMovesAdjacentBlocksOnlyWithASingleShard() {
        Striping single = new Striping(LOGICAL_BLOCK, 1, 16 * LOGICAL_BLOCK);
        assertThat(single.contiguousBytes(0)).isEqualTo(16 * LOGICAL_BLOCK);
        assertThat(single.contiguousBytes(5 * LOGICAL_BLOCK)).isEqualTo(11 * LOGICAL_BLOCK);
        assertThat(new Striping(LOGICAL_BLOCK, 2, 16 * LOGICAL_BLOCK).contiguousBytes(0)).isEqualTo(LOGICAL_BLOCK);
    }

    @Test
    void oneCommandMovesAWholeBlockEvenIfTheBlockIsLargerThanTheRequestSize() {
        assertThat(new Striping(64 * LOGICAL_BLOCK, 1, LOGICAL_BLOCK).contiguousBytes(0)).isEqualTo(64 * LOGICAL_BLOCK);
    }
}
