package io.modeldisk.admin.overview;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class HistoryTest {
    private final History history = new History();

    private void add(long at, double value, Map<String, Double> learners) {
        double[] sample = new double[Series.values().length];
        Arrays.fill(sample, value);
        history.add(at, sample, learners);
    }

    @Test
    void historyKeepsTheNewestSamplesOfTenMinutes() {
        for (int i = 0; i < History.SAMPLES + 7; i++) {
            add(1000L * i, i, Map.of());
        }
        JsonNode all = history.newest();
        assertThat(all.path("first").asLong()).isEqualTo(7);
        assertThat(all.path("at")).hasSize(History.SAMPLES);
        assertThat(all.path("at").get(0).asLong()).isEqualTo(7000);
        assertThat(all.path("pushed").get(0).asDouble()).isEqualTo(7);
        assertThat(all.path("staleness").get(History.SAMPLES - 1).asDouble()).isEqualTo(History.SAMPLES + 6);
        JsonNode recent = history.newest(2);
        assertThat(recent.path("first").asLong()).isEqualTo(History.SAMPLES + 5);
        assertThat(recent.path("at")).hasSize(2);
    }

    @Test
    void valueThatIsNotKnownIsNull() {
        add(1, Double.NaN, Map.of("a", Double.POSITIVE_INFINITY));
        assertThat(history.newest().path("stall").get(0).isNull()).isTrue();
        assertThat(history.newest().at("/learners/a/0").isNull()).isTrue();
    }

    @Test
    void largeAndSmallValuesAreJsonNumbers() throws Exception {
        add(1, 123_456_789, Map.of("a", 0.000123));
        JsonNode written = Overview.JSON.readTree(Overview.JSON.writeValueAsBytes(history.newest()));
        assertThat(written.path("pushed").get(0).asDouble()).isEqualTo(123_500_000);
        assertThat(written.at("/learners/a/0").asDouble()).isEqualTo(0.000123);
    }

    @Test
    void learnerThatHasLeftMakesRoomForAnother() {
        Map<String, Double> learners = new HashMap<>();
        for (int i = 0; i < History.LEARNERS; i++) {
            learners.put("learner-" + i, 1.0);
        }
        add(1, 0, learners);
        learners.put("one-too-many", 1.0);
        add(2, 0, learners);
        assertThat(history.newest().path("learners").has("one-too-many")).isFalse();
        learners.remove("learner-3");
        add(3, 0, learners);
        JsonNode rates = history.newest().path("learners");
        assertThat(rates).hasSize(History.LEARNERS);
        assertThat(rates.has("learner-3")).isFalse();
        assertThat(rates.at("/one-too-many/1").isNull()).as("the rates of the learner that has left are gone").isTrue();
        assertThat(rates.at("/one-too-many/2").asDouble()).isEqualTo(1);
        assertThat(rates.at("/learner-4/0").asDouble()).isEqualTo(1);
    }
}
