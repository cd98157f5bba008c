package io.modeldisk.gradient;

import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.consistency.NonFinite;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * A random job.
 *
 * @param waitTimeout the time that a call waits for other learners
 * @param pauses whether learners pause for so long that calls of other learners time out
 * @param interrupts whether calls are cancelled
 * @param cuts whether connections are lost
 * @param reconnectTimeout the time that a call tries to reach a lost shard
 * @param parts whether a gradient covers only a part of the model, so the blocks are in different rounds
 * @param nonFiniteShare the share of the gradients that are not finite
 * @param dtype the type of the gradients, float32 or bfloat16
 */
record Scenario(long seed, int learners, int shards, int blockBytes, int sizeBytes, String consistency,
    NonFinite policy, int rounds, Duration waitTimeout, boolean pauses, boolean interrupts, boolean cuts,
    Duration reconnectTimeout, boolean parts, double nonFiniteShare, ValueType dtype) {
    private static final int[] BLOCK_BYTES = {4096, 8192, 16384, 262_144};
    private static final int MAX_NARROW_BLOCK_BYTES = 16384;
    private static final String[] CONSISTENCIES = {"asp", "ssp:1", "bsp"};
    private static final int[] RECONNECT_MS = {0, 20, 200};

    static Scenario random(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int blockBytes = BLOCK_BYTES[random.nextInt(BLOCK_BYTES.length)];
        int wholeBlocks = random.nextInt(6);
        int lastBytes = wholeBlocks == 0 || random.nextBoolean()
            ? Float.BYTES * random.nextInt(1, blockBytes / Float.BYTES + 1)
            : 0;
        int shards = 1 + random.nextInt(Math.min(3, wholeBlocks + (lastBytes > 0 ? 1 : 0)));
        boolean pauses = random.nextInt(3) == 0;
        boolean cuts = random.nextInt(3) == 0;
        int waitMs = random.nextInt(40, 100);
        String consistency = CONSISTENCIES[random.nextInt(CONSISTENCIES.length)];
        // Until the JVM has compiled the conversion, a large block of bfloat16 takes longer than some wait timeouts.
        boolean narrow = ValueType.BFLOAT16.fits(blockBytes) && blockBytes <= MAX_NARROW_BLOCK_BYTES
            && new SplittableRandom(seed).split().nextInt(3) == 0;
        return new Scenario(seed, random.nextInt(1, 4), shards, blockBytes, wholeBlocks * blockBytes + lastBytes,
            consistency, random.nextBoolean() ? NonFinite.REFUSE : NonFinite.SKIP, random.nextInt(1, 6),
            pauses ? Duration.ofMillis(waitMs) : Duration.ofMinutes(1), pauses, random.nextInt(3) == 0, cuts,
            Duration.ofMillis(RECONNECT_MS[random.nextInt(RECONNECT_MS.length)]),
            consistency.equals("asp") && random.nextInt(3) == 0, random.nextBoolean() ? 0.3 : 0,
            narrow ? ValueType.BFLOAT16 : ValueType.FLOAT32);
    }

    /** The number of logical blocks of a gradient. The last block can be shorter than the others. */
    int logicalBlocks() {
        return Math.ceilDiv(gradientBytes(), LogicalBlock.BYTES);
    }

    int gradientBytes() {
        return sizeBytes / dtype.widening();
    }

    /** True if no call is allowed to fail, except for a gradient that is not finite. */
    boolean isCalm() {
        return !pauses && !interrupts && !cuts;
    }
}
