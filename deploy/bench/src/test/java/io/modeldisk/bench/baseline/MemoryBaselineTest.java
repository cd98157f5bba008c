package io.modeldisk.bench.baseline;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MemoryBaselineTest {
    private static final int MODEL_BYTES = 1 << 20;
    private static final int BUFFER_BYTES = 1 << 18;

    @ParameterizedTest
    @ValueSource(strings = {"null", "sgd:lr=0.1", "sum"})
    void memoryBaselineAcceptsRequestSizesThatDoNotDivideTheModel(String aggregator) {
        try (MemoryBaseline baseline = new MemoryBaseline(MODEL_BYTES, BUFFER_BYTES, aggregator)) {
            for (Direction direction : new Direction[]{Direction.PUSH, Direction.PULL}) {
                // The sizes of the model and of the buffers are not multiples of 12 KiB.
                assertThat(baseline.move(new Load(direction, 12 << 10, 8, 300, BUFFER_BYTES))).isPositive();
            }
        }
    }
}
