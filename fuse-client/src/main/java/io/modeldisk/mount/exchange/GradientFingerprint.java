package io.modeldisk.mount.exchange;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Computes a number that distinguishes two gradients: a hash of the bytes and the positions of all logical blocks that were
 * written. The hash is computed only after an fsync has failed, so a successful fsync has no extra cost.
 */
final class GradientFingerprint {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    // Odd numbers in which many bits are 1, so a multiplication spreads each bit of the data over the upper bits.
    private static final long FACTOR = 0x9E37_79B9_7F4A_7C15L;
    private static final long OTHER_FACTOR = 0xC2B2_AE3D_27D4_EB4FL;

    private GradientFingerprint() {}

    /** Returns the fingerprint of the marked blocks. The fingerprint is never 0. */
    static long of(DataMemory gradient, DirtyBlocks marked) {
        long hash = FACTOR;
        for (long from = marked.nextDirty(0); from >= 0; from = marked.nextDirty(from)) {
            long end = marked.nextClean(from);
            for (; from < end; from += LogicalBlock.BYTES) {
                long ofBlock = ofBlock(gradient.slab(from), DataMemory.offsetInSlab(from));
                hash = mixed(hash ^ mixed(ofBlock + from));
            }
        }
        return hash == 0 ? 1 : hash;
    }

    /**
     * Computes the hash of a block from four independent sums, so the processor can execute four multiplications in parallel. In
     * a single sum, each multiplication would wait for the previous one.
     */
    private static long ofBlock(MemorySegment memory, long offset) {
        long a = 1;
        long b = 2;
        long c = 3;
        long d = 4;
        for (long at = offset; at < offset + LogicalBlock.BYTES; at += 4 * Long.BYTES) {
            a = (a ^ memory.get(LONG, at)) * FACTOR;
            b = (b ^ memory.get(LONG, at + Long.BYTES)) * FACTOR;
            c = (c ^ memory.get(LONG, at + 2 * Long.BYTES)) * FACTOR;
            d = (d ^ memory.get(LONG, at + 3 * Long.BYTES)) * FACTOR;
            // Without the shifts, the upper bits of a word would never reach the lower bits of the sum.
            a ^= a >>> 32;
            b ^= b >>> 32;
            c ^= c >>> 32;
            d ^= d >>> 32;
        }
        return mixed(a) ^ mixed(b + 1) ^ mixed(c + 2) ^ mixed(d + 3);
    }

    private static long mixed(long value) {
        long first = (value ^ value >>> 31) * OTHER_FACTOR;
        return first ^ first >>> 29;
    }
}
