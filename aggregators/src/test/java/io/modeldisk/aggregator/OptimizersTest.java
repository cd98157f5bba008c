package io.modeldisk.aggregator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the optimizers with PyTorch's optimizers. The file optimizers.txt is the output of the script optimizers.py. */
class OptimizersTest {
    private static final int BLOCK = Aggregator.LOGICAL_BLOCK_BYTES;
    private static final int ELEMENTS = BLOCK / Float.BYTES;
    private static final float TOLERANCE = 1e-5f;

    @AutoClose
    private final Arena arena = Arena.ofConfined();

    /** The weights that PyTorch has computed after a number of steps: one line of optimizers.txt. */
    record Expected(String specification, int steps, float[] weights) {
        static Expected parse(String line) {
            String[] fields = line.split(" ");
            float[] weights = new float[fields.length - 2];
            for (int i = 0; i < weights.length; i++) {
                weights[i] = (float) Double.parseDouble(fields[i + 2]);
            }
            return new Expected(fields[0], Integer.parseInt(fields[1]), weights);
        }

        @Override
        public String toString() {
            return specification + " " + steps;
        }
    }

    static Stream<Expected> recorded() throws IOException {
        return Files.readAllLines(resource("optimizers.txt")).stream().map(Expected::parse);
    }

    private static Path resource(String name) {
        return Path.of(URI.create(OptimizersTest.class.getResource(name).toString()));
    }

    @ParameterizedTest
    @MethodSource("recorded")
    void optimizerComputesTheSameWeightsAsPyTorch(Expected expected) {
        assertEquals(expected, train(expected.specification(), expected.steps()));
    }

    @Test
    @Tag("peer")
    void recordedWeightsEqualTheWeightsOfTheInstalledPyTorch() throws IOException, InterruptedException {
        Process python = new ProcessBuilder("/usr/bin/python3", resource("optimizers.py").toString())
            .redirectErrorStream(true).start();
        String output = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assumeTrue(!output.contains("No module named"), "PyTorch is not installed (package python3-torch)");
        assertThat(python.waitFor()).as(output).isZero();
        List<Expected> live = output.lines().map(Expected::parse).toList();
        assertThat(live).hasSameSizeAs(recorded().toList());
        live.forEach(expected -> assertEquals(expected, train(expected.specification(), expected.steps())));
    }

    private static void assertEquals(Expected expected, MemorySegment weights) {
        for (int i = 0; i < expected.weights().length; i++) {
            float wanted = expected.weights()[i];
            assertThat(weights.getAtIndex(ValueLayout.JAVA_FLOAT, i)).as("%s: weight %d", expected, i)
                .isCloseTo(wanted, within(TOLERANCE * Math.max(1, Math.abs(wanted))));
        }
    }

    private MemorySegment train(String specification, int steps) {
        try (Aggregator optimizer = Aggregators.parse(specification)) {
            Block block = block(optimizer, values(0));
            for (int step = 1; step <= steps; step++) {
                block.round = step;
                optimizer.aggregate(block, 0, values(step * 2654435761L), 0, BLOCK, 1);
            }
            return block.weights;
        }
    }

    /** Returns the pseudo-random numbers that optimizers.py also uses. */
    private MemorySegment values(long seed) {
        MemorySegment values = arena.allocate(BLOCK, 64);
        int state = (int) seed;
        for (int i = 0; i < ELEMENTS; i++) {
            state = state * 1664525 + 1013904223;
            values.setAtIndex(ValueLayout.JAVA_FLOAT, i, (state >>> 8) / (float) (1 << 23) - 1);
        }
        return values;
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "sgd:lr=0.1", "sgd:lr=0.1,weight-decay=0.1", "momentum:lr=0.1", "nesterov:lr=0.1", "adagrad:lr=0.1",
        "rmsprop:lr=0.1",
        "adam:lr=0.1", "adamw:lr=0.1"})
    void updateChangesNothingOutsideItsRange(String specification) {
        try (Aggregator optimizer = Aggregators.parse(specification)) {
            Block block = block(optimizer, arena.allocate(3L * BLOCK, 64));
            block.weights.fill((byte) 1);
            MemorySegment gradient = values(1);
            optimizer.aggregate(block, BLOCK, gradient, 0, BLOCK, 1);
            Block alone = block(optimizer, arena.allocate(BLOCK, 64));
            alone.weights.fill((byte) 1);
            optimizer.aggregate(alone, 0, gradient, 0, BLOCK, 1);
            MemorySegment untouched = arena.allocate(BLOCK);
            untouched.fill((byte) 1);
            assertThat(block.weights.asSlice(0, BLOCK).mismatch(untouched)).isEqualTo(-1);
            assertThat(block.weights.asSlice(BLOCK, BLOCK).mismatch(alone.weights)).isEqualTo(-1);
            assertThat(block.weights.asSlice(2L * BLOCK, BLOCK).mismatch(untouched)).isEqualTo(-1);
            assertThat(alone.weights.mismatch(untouched)).isNotEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"momentum:lr=0.1", "adagrad:lr=0.1", "rmsprop:lr=0.1", "adam:lr=0.1", "adamw:lr=0.1"})
    void updateInPartsGivesTheSameWeightsAsAnUpdateOfTheWholeBlock(String specification) {
        try (Aggregator optimizer = Aggregators.parse(specification)) {
            Block whole = block(optimizer, arena.allocate(2L * BLOCK, 64));
            Block parts = block(optimizer, arena.allocate(2L * BLOCK, 64));
            MemorySegment gradient = arena.allocate(2L * BLOCK, 64);
            for (int step = 1; step <= 3; step++) {
                gradient.asSlice(0, BLOCK).copyFrom(values(step));
                gradient.asSlice(BLOCK).copyFrom(values(-step));
                optimizer.aggregate(whole, 0, gradient, 0, 2L * BLOCK, 1);
                // Until the next loop, the first logical block is up to three updates ahead of the second.
                optimizer.aggregate(parts, 0, gradient, 0, BLOCK, 1);
            }
            for (int step = 1; step <= 3; step++) {
                optimizer.aggregate(parts, BLOCK, values(-step), 0, BLOCK, 1);
            }
            assertThat(parts.weights.mismatch(whole.weights)).isEqualTo(-1);
            assertThat(parts.state.mismatch(whole.state)).isEqualTo(-1);
            gradient.asSlice(0, BLOCK).copyFrom(values(4));
            gradient.asSlice(BLOCK).copyFrom(values(-4));
            optimizer.aggregate(parts, 0, gradient, 0, BLOCK, 1);
            optimizer.aggregate(parts, 0, gradient, 0, 2L * BLOCK, 0.5f);
            optimizer.aggregate(whole, 0, gradient, 0, BLOCK, 1);
            optimizer.aggregate(whole, 0, gradient, 0, BLOCK, 0.5f);
            optimizer.aggregate(whole, BLOCK, gradient, BLOCK, BLOCK, 0.5f);
            assertThat(parts.weights.mismatch(whole.weights)).isEqualTo(-1);
        }
    }

    @Test
    void scaleMultipliesTheGradientBeforeItIsClipped() {
        assertThat(firstWeight("sgd:lr=1,clip-value=3", 4, 0.5f)).isEqualTo(-2);
        assertThat(firstWeight("sgd:lr=1,clip-value=1", -4, 0.5f)).isEqualTo(1);
        // All 1024 elements are 2 after scaling, so the norm is 64.
        assertThat(firstWeight("sgd:lr=1,clip-norm=32", 4, 0.5f)).isCloseTo(-1, within(1e-6f));
        assertThat(firstWeight("sgd:lr=1,clip-norm=65", 4, 0.5f)).isEqualTo(-2);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "sgd:lr=1", "sgd:lr=1,clip-value=1", "sgd:lr=1,clip-norm=1", "momentum:lr=1", "adagrad:lr=1", "rmsprop:lr=1",
        "adam:lr=1",
        "adamw:lr=1"})
    void nanInTheGradientReachesTheWeights(String specification) {
        assertThat(firstWeight(specification, Float.NaN, 1)).isNaN();
    }

    private float firstWeight(String specification, float gradient, float scale) {
        try (Aggregator optimizer = Aggregators.parse(specification)) {
            Block block = block(optimizer, arena.allocate(BLOCK, 64));
            MemorySegment values = arena.allocate(BLOCK, 64);
            for (int i = 0; i < ELEMENTS; i++) {
                values.setAtIndex(ValueLayout.JAVA_FLOAT, i, gradient);
            }
            optimizer.aggregate(block, 0, values, 0, BLOCK, scale);
            return block.weights.get(ValueLayout.JAVA_FLOAT, 0);
        }
    }

    @Test
    void rangeWithAPartialLogicalBlockIsRefused() {
        try (Aggregator optimizer = Aggregators.parse("adam:lr=1")) {
            Block block = block(optimizer, arena.allocate(2L * BLOCK, 64));
            MemorySegment gradient = arena.allocate(2L * BLOCK, 64);
            assertThatThrownBy(() -> optimizer.aggregate(block, 0, gradient, 0, BLOCK + 64, 1))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("must be multiples of 4096");
            assertThatThrownBy(() -> optimizer.aggregate(block, BLOCK, gradient, 0, 2L * BLOCK, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> optimizer.aggregate(block, 0, gradient, BLOCK, 2L * BLOCK, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(block.weights.mismatch(gradient)).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "adam:beta1=0.9; lr is missing; add lr=NUMBER",
        "adam:lr=0.1,momentum=0.9; momentum is unknown",
        "adam:lr=0.1,beta2=1; beta2=1.0 must be at least 0 and less than 1",
        "momentum:lr=0.1,momentum=-0.1; momentum=-0.1 must be at least 0 and less than 1",
        "adagrad:lr=0.1,eps=0; eps=0.0 must be above 0",
        "rmsprop:lr=-0.1; lr=-0.1 must be above 0",
        "adamw:lr=0.1,weight-decay=-1; weight-decay=-1.0 must be at least 0",
        "sgd:lr=0.1,clip-value=0; clip-value=0.0 must be above 0",
        "sgd:lr=0.1,clip-value=1,clip-norm=1; clip-value and clip-norm exclude each other; give only one of them",
        "sgd:lr=0.1,schedule=linear; schedule=linear must be one of constant, step, cosine",
        "sgd:lr=0.1,every=3; the option every is only allowed with schedule=step",
        "sgd:lr=0.1,schedule=step,every=3,rounds=9; the option rounds is only allowed with schedule=cosine",
        "sgd:lr=0.1,schedule=cosine; the option rounds is missing; add rounds=ROUNDS",
        "sgd:lr=0.1,schedule=cosine,rounds=0; rounds=0 must be at least 1",
        "sgd:lr=0.1,schedule=cosine,rounds=9,final=1.5; final=1.5 must be from 0 to 1",
        "sgd:lr=0.1,warmup=-1; warmup=-1 must be at least 0"})
    void errorOfAWrongOptionStatesTheReason(String specification, String message) {
        assertThatThrownBy(() -> Aggregators.parse(specification)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(message.strip());
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "sgd:lr=0.5; 1=0.5 1000000=0.5",
        "sgd:lr=0.5,warmup=4; 0=0.125 1=0.125 2=0.25 4=0.5 5=0.5 99=0.5",
        "sgd:lr=0.5,schedule=step,every=2,factor=0.5; 1=0.5 2=0.5 3=0.25 4=0.25 5=0.125",
        "sgd:lr=0.5,schedule=step,every=2,factor=0.5,warmup=2; 1=0.25 2=0.5 3=0.5 4=0.5 5=0.25",
        "sgd:lr=0.5,schedule=cosine,rounds=10; 1=0.5 6=0.25 11=0 12=0 20=0 100000=0",
        "sgd:lr=0.5,schedule=cosine,rounds=10,final=0.5,warmup=5; 5=0.5 6=0.5 11=0.375 16=0.25 17=0.25 1000=0.25"})
    void scheduleDeterminesTheRateOfEachRound(String specification, String rates) {
        assertRates(rate(specification), rates, 1e-7f);
    }

    private static LearningRate rate(String specification) {
        try (Aggregator optimizer = Aggregators.parse(specification)) {
            return optimizer.learningRate();
        }
    }

    /** Checks the rates of some rounds, which have the form {@code ROUND=RATE ROUND=RATE}. */
    private static void assertRates(LearningRate rate, String expected, float tolerance) {
        for (String pair : expected.strip().split(" ")) {
            String[] parts = pair.split("=");
            assertThat(rate.at(Long.parseLong(parts[0]))).as("rate of round %s", parts[0])
                .isCloseTo(Float.parseFloat(parts[1]), within(tolerance));
        }
    }

    @Test
    void newRateAppliesFromItsFirstRoundWithTheSameSchedule() {
        LearningRate rate = rate("sgd:lr=8,schedule=step,every=10,factor=0.5");
        rate.change(new LearningRate.Change(5, 2));
        rate.change(new LearningRate.Change(9, 1));
        assertRates(rate, "1=8 4=8 5=2 8=2 9=1 10=1 11=0.5", 0);
        rate.change(new LearningRate.Change(8, 4));
        assertRates(rate, "5=2 7=2 8=4 9=4 11=2", 0);
    }

    @Test
    void onlyTheNewestRateChangesAreKept() {
        LearningRate rate = rate("sgd:lr=1000");
        for (int i = 1; i <= 1000; i++) {
            rate.change(new LearningRate.Change(i, i));
        }
        assertThat(rate.changes()).hasSize(LearningRate.MAX_CHANGES);
        // The oldest kept change applies to all earlier rounds too.
        assertRates(rate, "1000=1000 997=997 3=" + (1001 - LearningRate.MAX_CHANGES), 0);
        LearningRate other = rate("sgd:lr=1000");
        other.restore(rate.changes());
        assertRates(other, "1000=1000 997=997 3=" + (1001 - LearningRate.MAX_CHANGES), 0);
        other.restore(List.of());
        assertRates(other, "3=1000", 0);
    }

    @Test
    void rateChangeDoesNotApplyToEarlierRounds() {
        LearningRate rate = rate("sgd:lr=1000");
        for (int i = 1; i <= LearningRate.MAX_CHANGES; i++) {
            rate.change(new LearningRate.Change(100 * i, i));
        }
        assertRates(rate, "99=1000 100=1", 0);
    }

    @Test
    void normOfAVeryLargeGradientIsFinite() {
        // The norm is 64e20, whose square is infinite in float32.
        assertThat(firstWeight("sgd:lr=1,clip-norm=32", 2e20f, 1)).isCloseTo(-1, within(1e-5f));
    }

    @ParameterizedTest
    @ValueSource(floats = {0, -1, Float.NaN, Float.POSITIVE_INFINITY})
    void changeToARateThatIsNotAboveZeroIsRefused(float wrong) {
        assertThatThrownBy(() -> new LearningRate.Change(1, wrong)).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("lr=" + wrong + " must be a finite number above 0");
    }

    private Block block(Aggregator optimizer, MemorySegment weights) {
        long stateBytes = weights.byteSize() / BLOCK * optimizer.stateBytesPerLogicalBlock();
        return new Block(weights, stateBytes == 0 ? MemorySegment.NULL : arena.allocate(stateBytes, 64));
    }

    /** A block with its own memory, and a round that a test can change. */
    static final class Block implements BlockMemory {
        private final MemorySegment weights;
        private final MemorySegment state;
        private long round = 1;

        Block(MemorySegment weights, MemorySegment state) {
            this.weights = weights;
            this.state = state;
        }

        @Override
        public MemorySegment weights() {
            return weights;
        }

        @Override
        public MemorySegment state() {
            return state;
        }

        @Override
        public long round() {
            return round;
        }
    }
}
