package io.modeldisk.aggregator;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Computes with arrays of float32 values in native memory and native byte order.
 *
 * <p>Offsets and lengths are in bytes. A length must be a multiple of 4, but an offset can have any value. The ranges in
 * {@code src} and {@code dst} must not overlap, unless they are the same range. A segment on the heap causes an
 * {@link UnsupportedOperationException}. No memory is allocated. Thread-safe for calls on different ranges.
 */
public final class FloatKernels {
    // For arrays that exceed the cache, vectors of 512 bits are 6 % faster than vectors of 256 bits (measured).
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;

    private static final int VECTOR_BYTES = SPECIES.vectorByteSize();
    // On a processor without fused multiply-add, Java's fma uses BigDecimal, which is thousands of times slower.
    static final boolean FUSED = processorFuses();
    static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    private FloatKernels() {}

    private static boolean processorFuses() {
        HotSpotDiagnosticMXBean machine = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        return machine == null || Boolean.parseBoolean(machine.getVMOption("UseFMA").getValue());
    }

    /** Computes {@code dst += factor * src}. Each result is rounded once, or twice on a processor without fused multiply-add. */
    public static void scaledAdd(
        MemorySegment dst, long dstOffset, MemorySegment src, long srcOffset, long lengthBytes, float factor) {
        checkRange(dst, dstOffset, lengthBytes);
        checkRange(src, srcOffset, lengthBytes);
        scaledAdd(ofKnownClass(dst), dstOffset, ofKnownClass(src), srcOffset, lengthBytes, factor, FUSED);
    }

    static void scaledAdd(
        MemorySegment to, long dstOffset, MemorySegment from, long srcOffset, long lengthBytes, float factor,
        boolean fused) {
        FloatVector factors = FloatVector.broadcast(SPECIES, factor);
        long vectorsEnd = lengthBytes - lengthBytes % VECTOR_BYTES;
        long i = 0;
        for (; i < vectorsEnd; i += VECTOR_BYTES) {
            FloatVector addend = FloatVector.fromMemorySegment(SPECIES, from, srcOffset + i, ORDER);
            FloatVector sum = FloatVector.fromMemorySegment(SPECIES, to, dstOffset + i, ORDER);
            FloatVector result = fused ? addend.fma(factors, sum) : addend.mul(factors).add(sum);
            result.intoMemorySegment(to, dstOffset + i, ORDER);
        }
        for (; i < lengthBytes; i += Float.BYTES) {
            float addend = from.get(FLOAT, srcOffset + i);
            float sum = to.get(FLOAT, dstOffset + i);
            to.set(FLOAT, dstOffset + i, fused ? Math.fma(addend, factor, sum) : addend * factor + sum);
        }
    }

    /** Computes {@code dst = factor * src}. With a factor of 1, copies the bits of each value unchanged. */
    public static void scaledCopy(
        MemorySegment dst, long dstOffset, MemorySegment src, long srcOffset, long lengthBytes, float factor) {
        checkRange(dst, dstOffset, lengthBytes);
        checkRange(src, srcOffset, lengthBytes);
        MemorySegment to = ofKnownClass(dst);
        MemorySegment from = ofKnownClass(src);
        if (factor == 1) {
            MemorySegment.copy(from, srcOffset, to, dstOffset, lengthBytes);
            return;
        }
        FloatVector factors = FloatVector.broadcast(SPECIES, factor);
        long vectorsEnd = lengthBytes - lengthBytes % VECTOR_BYTES;
        long i = 0;
        for (; i < vectorsEnd; i += VECTOR_BYTES) {
            FloatVector values = FloatVector.fromMemorySegment(SPECIES, from, srcOffset + i, ORDER);
            values.mul(factors).intoMemorySegment(to, dstOffset + i, ORDER);
        }
        for (; i < lengthBytes; i += Float.BYTES) {
            to.set(FLOAT, dstOffset + i, from.get(FLOAT, srcOffset + i) * factor);
        }
    }

    /** Returns {@code a * b + c}. The result is rounded once, or twice on a processor without fused multiply-add. */
    static FloatVector multiplyAdd(FloatVector a, FloatVector b, FloatVector c) {
        return FUSED ? a.fma(b, c) : a.mul(b).add(c);
    }

    private static void checkRange(MemorySegment segment, long offset, long lengthBytes) {
        if (lengthBytes % Float.BYTES != 0) {
            throw new IllegalArgumentException("lengthBytes=" + lengthBytes + " must be a multiple of " + Float.BYTES);
        }
        Objects.checkFromIndexSize(offset, lengthBytes, segment.byteSize());
    }

    /**
     * Returns {@code segment} with the same size and lifetime, but with a class that the JIT compiler knows. Without this method,
     * a kernel would be 2 to 10 times slower if other code had used mapped or heap segments in the Vector API.
     */
    @SuppressWarnings("restricted")
    static MemorySegment ofKnownClass(MemorySegment segment) {
        return segment.reinterpret(segment.byteSize());
    }
}
