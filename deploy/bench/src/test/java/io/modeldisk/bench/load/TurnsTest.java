package io.modeldisk.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class TurnsTest {
    private static final long RUN_MS = 100;
    private static final long RUN_NS = TimeUnit.MILLISECONDS.toNanos(RUN_MS);

    private final List<String> order = new ArrayList<>();
    private final Map<String, Turns.Run> variants = new LinkedHashMap<>();

    /** Adds a variant that records its name and takes {@code nanosEach} simulated nanoseconds for each request. */
    private void variant(String name, long nanosEach) {
        variants.put(name, requests -> {
            order.add(name);
            return Measured.of(requests, requests * nanosEach);
        });
    }

    @Test
    void everyMeasurementTakesAboutThePlannedTime() throws IOException {
        variant("fast", 500);
        variant("slow", 3_000_000);
        Map<String, List<Measured>> found = new Turns(2, RUN_MS).measure(1, variants);

        assertThat(found.values()).hasSize(2).allSatisfy(runs -> assertThat(runs).hasSize(2)
            .allSatisfy(run -> assertThat(run.nanos()).isBetween(RUN_NS * 9 / 10, RUN_NS)));
    }

    @Test
    void slowVariantSendsOnlyTheMinimumNumberOfRequestsInEachMeasurement() throws IOException {
        variant("slow", 5 * RUN_NS);

        assertThat(new Turns(3, RUN_MS).measure(8, variants).get("slow")).extracting(Measured::requests)
            .containsExactly(8L, 8L, 8L);
    }

    @Test
    void everyRoundStartsWithTheSecondVariantOfThePreviousRound() throws IOException {
        variant("a", RUN_NS);
        variant("b", RUN_NS);
        new Turns(3, RUN_MS).measure(1, variants);

        assertThat(order).containsExactly("a", "b", "a", "b", "b", "a", "a", "b");
    }

    @Test
    void throughputIsTheBytesOfAllRequestsDividedByTheDuration() {
        Measured measured = Measured.of(500, TimeUnit.MILLISECONDS.toNanos(250));

        assertThat(measured.requestsPerSecond()).isEqualTo(2000);
        assertThat(Measured.gigabytesPerSecond(List.of(measured), 1_000_000).median()).isEqualTo(2);
    }
}
