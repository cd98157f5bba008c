package io.modeldisk.bench.micro;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class TurnsTest {
    private static final long RUN_MS = 100;
    private static final long RUN_NS = TimeUnit.MILLISECONDS.toNanos(RUN_MS);

    private final List<String> order = new ArrayList<>();

    /** Returns a run that records its name and takes {@code nanosEach} simulated nanoseconds for each request. */
    private Turns.Run taking(String name, long nanosEach) {
        return requests -> {
            order.add(name);
            return new Outcome(requests, requests * nanosEach, 1, 2);
        };
    }

    @Test
    void everyMeasurementTakesAboutThePlannedTime() throws IOException {
        List<List<Outcome>> outcomes = new Turns(2, RUN_MS).measure(
            List.of(taking("fast", 500), taking("slow", 3_000_000)));

        assertThat(outcomes).hasSize(2).allSatisfy(found -> assertThat(found).hasSize(2)
            .allSatisfy(outcome -> assertThat(outcome.nanos()).isBetween(RUN_NS * 9 / 10, RUN_NS)));
    }

    @Test
    void requestLongerThanThePlannedTimeIsSentOnceInEachMeasurement() throws IOException {
        List<List<Outcome>> outcomes = new Turns(3, RUN_MS).measure(List.of(taking("slow", 5 * RUN_NS)));

        assertThat(outcomes.getFirst()).extracting(Outcome::requests).containsExactly(1L, 1L, 1L);
    }

    @Test
    void everyRoundStartsOneVariantLaterThanThePreviousRound() throws IOException {
        new Turns(3, RUN_MS).measure(List.of(taking("a", RUN_NS), taking("b", RUN_NS)));

        assertThat(order).containsExactly("a", "b", "a", "b", "b", "a", "a", "b");
    }

    @Test
    void requestsPerSecondAreTheNumberOfRequestsDividedByTheDuration() {
        assertThat(new Outcome(500, TimeUnit.MILLISECONDS.toNanos(250), 1, 2).requestsPerSecond()).isEqualTo(2000);
    }
}
