package io.modeldisk.bench.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Mover;
import io.modeldisk.bench.report.ThroughputResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PairedRunsTest {
    private static final int BYTES = 4096;

    private final List<String> log = new ArrayList<>();

    /** Returns a mover that records its name and moves {@code speed} bytes per simulated nanosecond. */
    private Mover fixed(String name, int speed) {
        return load -> {
            log.add(name);
            return load.bytes() / speed;
        };
    }

    private ThroughputResult measure(int pairs, Mover alone) throws IOException {
        return new PairedRuns(pairs, 1).measure("sgd", new Load(Direction.PUSH, BYTES, 8, 1),
            new PairedRuns.Sides(fixed("baseline", 2), null, fixed("protocol", 4), alone));
    }

    @Test
    void orderOfMeasurementsIsReversedAfterEveryRound() throws IOException {
        measure(3, fixed("alone", 8));
        assertThat(log.subList(log.size() - 9, log.size())).containsExactly("baseline", "protocol", "alone", "alone",
            "protocol", "baseline", "baseline", "protocol", "alone");
    }

    @Test
    void protocolIsComparedWithTheSocketBaselineAndTheMemoryBaseline() throws IOException {
        ThroughputResult result = measure(2, fixed("alone", 8));
        assertThat(result.ratio().median()).isCloseTo(2, offset(0.01));
        assertThat(result.ratioToAlone().median()).isCloseTo(0.5, offset(0.01));
        assertThat(result.baselineWithSgd()).isNull();
    }

    @Test
    void resultHasNoRatioToAMemoryBaselineThatIsNotMeasured() throws IOException {
        assertThat(measure(1, null).ratioToAlone()).isNull();
    }
}
