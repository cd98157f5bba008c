package io.modeldisk.aggregator.device;

/** The type of a gradient's values, in native byte order. Kernels receive its ordinal. The conversion to float32 is exact. */
public enum GradientType {
    /** 32 bits, like the weights. */
    FLOAT32(Float.BYTES),
    /** 16 bits: the upper half of a float32. */
    BFLOAT16(Short.BYTES),
    /** 16 bits: IEEE 754 binary16. */
    FLOAT16(Short.BYTES);

    private final int bytes;

    GradientType(int bytes) {
        this.bytes = bytes;
    }

    /** Returns the length of the weights divided by the length of their gradient: 1 or 2. */
    public int widening() {
        return Float.BYTES / bytes;
    }

    /** Returns the length in bytes of a gradient for weights of {@code weightBytes} bytes. */
    public long gradientBytes(long weightBytes) {
        return weightBytes / Float.BYTES * bytes;
    }
}
