package io.modeldisk.aggregator;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A gradient and a block of weights of the same size. Both are outside the heap and start on page boundaries, as in a shard. */
@State(Scope.Thread)
public class Gradient {
    private static final long PAGE_BYTES = 4096;
    private static final long SEED = 1;

    /** The size in bytes of the gradient, which is also the size of the block. */
    @Param({"4096", "262144", "1048576"})
    public int bytes;

    private final Arena arena = Arena.ofShared();
    private MemorySegment values;
    private Block block;

    /** Fills the gradient and the block with random numbers between -1 and 1. */
    @Setup(Level.Trial)
    public void allocate() {
        Random random = new Random(SEED);
        values = randomFloats(random);
        block = new Block(randomFloats(random));
    }

    private MemorySegment randomFloats(Random random) {
        MemorySegment segment = arena.allocate(bytes, PAGE_BYTES);
        for (long i = 0; i < bytes / Float.BYTES; i++) {
            segment.setAtIndex(ValueLayout.JAVA_FLOAT, i, random.nextFloat(-1, 1));
        }
        return segment;
    }

    /** Frees the memory of the gradient and of the block. */
    @TearDown(Level.Trial)
    public void free() {
        arena.close();
    }

    MemorySegment values() {
        return values;
    }

    Block block() {
        return block;
    }

    /** Copies the gradient into the block. */
    void copy() {
        MemorySegment.copy(values, 0, block.weights(), 0, bytes);
    }

    /** A block of weights that has no aggregator state. */
    record Block(MemorySegment weights) implements BlockMemory {
        @Override
        public MemorySegment state() {
            return MemorySegment.NULL;
        }

        @Override
        public long round() {
            return 1;
        }
    }
}
