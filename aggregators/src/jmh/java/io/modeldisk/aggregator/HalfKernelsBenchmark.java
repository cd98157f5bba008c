package io.modeldisk.aggregator;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** Measures the speed of each method of {@link HalfKernels}. The rates are in float32 bytes. */
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(2)
public class HalfKernelsBenchmark {
    /** Rounds weights to bfloat16. */
    @Benchmark
    public void toBfloat16(Gradient gradient, Gigabytes moved) {
        HalfKernels.float32ToBfloat16(gradient.values(), 0, gradient.block().weights(), 0,
            gradient.bytes / Float.BYTES);
        moved.add(gradient.bytes);
    }

    /** Rounds weights to float16. */
    @Benchmark
    public void toFloat16(Gradient gradient, Gigabytes moved) {
        HalfKernels.float32ToFloat16(gradient.values(), 0, gradient.block().weights(), 0, gradient.bytes / Float.BYTES);
        moved.add(gradient.bytes);
    }

    /** Converts a gradient of bfloat16 values to float32. */
    @Benchmark
    public void fromBfloat16(Gradient gradient, Gigabytes moved) {
        HalfKernels.bfloat16ToFloat32(gradient.block().weights(), 0, gradient.values(), 0,
            gradient.bytes / Float.BYTES);
        moved.add(gradient.bytes);
    }

    /** Converts a gradient of float16 values to float32. */
    @Benchmark
    public void fromFloat16(Gradient gradient, Gigabytes moved) {
        HalfKernels.float16ToFloat32(gradient.block().weights(), 0, gradient.values(), 0, gradient.bytes / Float.BYTES);
        moved.add(gradient.bytes);
    }

    /** Copies the gradient into the block, for comparison. */
    @Benchmark
    public void memcpy(Gradient gradient, Gigabytes copied) {
        gradient.copy();
        copied.add(gradient.bytes);
    }
}
