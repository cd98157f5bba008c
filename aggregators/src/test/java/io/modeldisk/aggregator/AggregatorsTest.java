package io.modeldisk.aggregator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AggregatorsTest {
    @ParameterizedTest
    @CsvSource({
        "null, 1, 8", "assign, 1, 2", "assign, 0.5, 1", "sum, 1, 10", "sum, 0.5, 9", "sgd:lr=0.5, 1, 7",
        "sgd:lr=0.5, 0.5, 7.5"})
    void aggregatorAppliesItsFormulaOnlyToTheGivenRange(String specification, float scale, float expected) {
        try (Arena arena = Arena.ofConfined(); Aggregator aggregator = Aggregators.parse(specification)) {
            MemorySegment weights = floats(arena, 3 * 1024, 8);
            aggregator.aggregate(new OptimizersTest.Block(weights, MemorySegment.NULL), 4096, floats(arena, 1025, 2), 4,
                4096, scale);
            for (int i = 0; i < 3 * 1024; i++) {
                float wanted = i >= 1024 && i < 2048 ? expected : 8;
                assertThat(weights.getAtIndex(ValueLayout.JAVA_FLOAT, i)).as("weight %d", i).isEqualTo(wanted);
            }
        }
    }

    @Test
    void builtInAggregatorsAndAggregatorsOfOtherJarsAreListedByName() {
        assertThat(Aggregators.providers()).extracting(AggregatorProvider::name)
            .contains("assign", "null", "sgd", "sum", "test").isSorted();
    }

    @Test
    void errorOfAnUnknownAggregatorNamesTheKnownAggregators() {
        assertThatThrownBy(() -> Aggregators.parse("sdg:lr=0.1")).isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith("the aggregator \"sdg\" is not known; the known aggregators are:")
            .hasMessageContaining("\n  sgd: weights -= lr * gradient; options: lr")
            .hasMessageContaining("\n  null: discards");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"adam|lr is missing; add lr=NUMBER",
        "adam:rate=0.1|lr is missing; add lr=NUMBER; rate is unknown",
        "adam:lr=0.1,momentum=0.9,x=2|momentum is unknown; x is unknown"})
    void errorOfMissingAndUnknownOptionsNamesThemAndTheKnownOptionsInTwoLines(String specification, String said) {
        assertThatThrownBy(() -> Aggregators.parse(specification)).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("the aggregator " + specification + " is invalid: " + said + "\n  known options: lr=NUMBER,"
                + " schedule=constant|step|cosine, warmup=0, every, factor, rounds, final, clip-value, weight-decay=0,"
                + " clip-norm, beta1=0.9, beta2=0.999, eps=1e-8");
    }

    @ParameterizedTest
    @CsvSource({"sgd:lr=0", "sgd:lr=-1", "sgd:lr=1e-60", "sgd:lr=NaN", "sgd:lr=Infinity", "sgd:lr=1e60", "sgd:lr=fast"})
    void learningRateMustBeFiniteAndPositive(String specification) {
        assertThatThrownBy(() -> Aggregators.parse(specification)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("lr=").hasMessageContaining("must be");
    }

    @Test
    void aggregatorWithAnUnknownOptionIsRefusedAndClosed() {
        AtomicBoolean closed = new AtomicBoolean();
        Map<String, AggregatorProvider> providers = Aggregators.byName(List.of(new TestProvider(closed)));
        assertThatThrownBy(() -> Aggregators.parse("test:x=1", providers))
            .hasMessageStartingWith(
                "the aggregator test:x=1 is invalid: x is unknown\n  known options: none");
        assertThat(closed).isTrue();
    }

    @Test
    void twoAggregatorProvidersWithTheSameNameAreRefused() {
        assertThatThrownBy(() -> Aggregators.byName(List.of(new TestProvider(), new TestProvider())))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageStartingWith("two aggregators are named \"test\": " + TestProvider.class.getName());
    }

    private static MemorySegment floats(Arena arena, int count, float value) {
        MemorySegment segment = arena.allocate(4L * count, 64);
        for (int i = 0; i < count; i++) {
            segment.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
        }
        return segment;
    }
}
