package io.modeldisk.aggregator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FloatKernelsTest {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final int SEGMENT_BYTES = 8192;

    @AutoClose
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment dst = randomFloats(1);
    private final MemorySegment src = randomFloats(2);
    private final MemorySegment before = arena.allocate(SEGMENT_BYTES).copyFrom(dst);

    /** The offsets and the length of a range in bytes. An offset counts from the start of its segment. */
    record Range(long dstOffset, long srcOffset, long lengthBytes) {}

    static Stream<Range> ranges() {
        IntStream lengths = IntStream.concat(IntStream.rangeClosed(0, 70),
            IntStream.of(127, 128, 129, 1000, 1024, 2000));
        return lengths.mapToObj(floats -> Stream.of(
            new Range(0, 0, 4L * floats), new Range(4, 0, 4L * floats), new Range(0, 8, 4L * floats),
            new Range(64, 4, 4L * floats), new Range(1, 3, 4L * floats), new Range(61, 62, 4L * floats)))
            .flatMap(s -> s);
    }

    @ParameterizedTest
    @MethodSource("ranges")
    void fusedScaledAddRoundsEachResultOnlyOnce(Range range) {
        float factor = -0.3f;
        FloatKernels.scaledAdd(dst, range.dstOffset, src, range.srcOffset, range.lengthBytes, factor, true);
        assertRangeAloneIs(range, (w, g) -> Math.fma(g, factor, w));
    }

    @ParameterizedTest
    @MethodSource("ranges")
    void unfusedScaledAddGivesTheSameValuesAsAScalarLoop(Range range) {
        float factor = -0.3f;
        FloatKernels.scaledAdd(dst, range.dstOffset, src, range.srcOffset, range.lengthBytes, factor, false);
        assertRangeAloneIs(range, (w, g) -> w + g * factor);
    }

    @ParameterizedTest
    @MethodSource("ranges")
    void scaledAddChangesOnlyTheGivenRange(Range range) {
        // The product with -0.5 is exact, so fused and separate arithmetic give the same result.
        FloatKernels.scaledAdd(dst, range.dstOffset, src, range.srcOffset, range.lengthBytes, -0.5f);
        assertRangeAloneIs(range, (w, g) -> w - g / 2);
    }

    @ParameterizedTest
    @MethodSource("ranges")
    void scaledCopyGivesTheSameValuesAsAScalarLoop(Range range) {
        float factor = 1 / 3f;
        FloatKernels.scaledCopy(dst, range.dstOffset, src, range.srcOffset, range.lengthBytes, factor);
        assertRangeAloneIs(range, (_, g) -> g * factor);
    }

    @ParameterizedTest
    @MethodSource("ranges")
    void scaledCopyWithFactorOneCopiesTheValues(Range range) {
        FloatKernels.scaledCopy(dst, range.dstOffset, src, range.srcOffset, range.lengthBytes, 1);
        assertRangeAloneIs(range, (_, g) -> g);
    }

    @Test
    void addingARangeToItselfDoublesTheValues() {
        FloatKernels.scaledAdd(dst, 4, dst, 4, 4000, 1);
        assertRangeAloneIs(new Range(4, 4, 4000), (w, _) -> w + w);
    }

    @Test
    void rangeBeyondTheSegmentIsRefusedBeforeAnyWrite() {
        assertThatThrownBy(() -> FloatKernels.scaledAdd(dst, SEGMENT_BYTES - 64, src, 0, 68, 1))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> FloatKernels.scaledAdd(dst, 0, src, 4, SEGMENT_BYTES, 2))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> FloatKernels.scaledCopy(dst, 0, src, -4, 8, 2))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> FloatKernels.scaledAdd(dst, 0, src, 0, -4, 1))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(dst.mismatch(before)).isEqualTo(-1);
    }

    @Test
    void floatKernelsRefuseALengthThatIsNotAMultipleOfFourBytes() {
        assertThatThrownBy(() -> FloatKernels.scaledAdd(dst, 0, src, 0, 6, 1))
            .hasMessage("lengthBytes=6 must be a multiple of 4");
    }

    @Test
    void floatKernelsRefuseHeapSegments() {
        MemorySegment heap = MemorySegment.ofArray(new float[16]);
        assertThatThrownBy(() -> FloatKernels.scaledAdd(heap, 0, src, 0, 64, 1))
            .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> FloatKernels.scaledCopy(dst, 0, heap, 0, 64, 1))
            .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void floatKernelsRefuseASegmentFromAClosedArena() {
        Arena closed = Arena.ofConfined();
        MemorySegment gone = closed.allocate(64);
        closed.close();
        assertThatThrownBy(() -> FloatKernels.scaledAdd(dst, 0, gone, 0, 64, 1))
            .isInstanceOf(IllegalStateException.class);
    }

    private interface FloatOperation {
        float apply(float w, float g);
    }

    private void assertRangeAloneIs(Range range, FloatOperation law) {
        MemorySegment expected = arena.allocate(SEGMENT_BYTES).copyFrom(before);
        for (long i = 0; i < range.lengthBytes; i += 4) {
            float w = before.get(FLOAT, range.dstOffset + i);
            float g = src.get(FLOAT, range.srcOffset + i);
            expected.set(FLOAT, range.dstOffset + i, law.apply(w, g));
        }
        assertThat(dst.mismatch(expected)).as("the index of the first byte that differs").isEqualTo(-1);
    }

    private MemorySegment randomFloats(long seed) {
        Random random = new Random(seed);
        MemorySegment segment = arena.allocate(SEGMENT_BYTES, 64);
        for (long i = 0; i < SEGMENT_BYTES; i += 4) {
            segment.set(FLOAT, i, (float) random.nextGaussian());
        }
        return segment;
    }
}
