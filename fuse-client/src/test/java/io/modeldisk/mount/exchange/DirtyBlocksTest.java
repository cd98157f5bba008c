package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class DirtyBlocksTest {
    @Test
    void dirtyRangesEqualTheRangesOfABitSetAfterRandomChanges() {
        Random random = new Random(7);
        for (int round = 0; round < 200; round++) {
            int blocks = 1 + random.nextInt(300);
            DirtyBlocks dirty = new DirtyBlocks(blocks * 4096L - random.nextInt(4096));
            BitSet expected = new BitSet();
            for (int i = 0; i < 6; i++) {
                int first = random.nextInt(blocks);
                int last = first + random.nextInt(blocks - first);
                if (i % 3 == 2) {
                    dirty.clear(first * 4096L, (last - first + 1) * 4096L);
                    expected.clear(first, last + 1);
                } else {
                    long from = first * 4096L + random.nextInt(4096);
                    dirty.mark(from, last * 4096L + 4096 - from);
                    expected.set(first, last + 1);
                }
            }
            BitSet found = new BitSet();
            for (long from = dirty.nextDirty(0); from >= 0; from = dirty.nextDirty(dirty.nextClean(from))) {
                found.set((int) (from / 4096), (int) (dirty.nextClean(from) / 4096));
            }
            assertThat(found).as("round %d", round).isEqualTo(expected);
        }
    }
}
