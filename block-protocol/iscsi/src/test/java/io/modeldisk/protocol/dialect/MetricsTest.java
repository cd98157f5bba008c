package io.modeldisk.protocol.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.dialect.Metric.Kind;
import org.junit.jupiter.api.Test;

class MetricsTest {
    @Test
    void everyMetricHasADistinctPathAndADescription() {
        assertThat(Metric.values()).extracting(Metric::path).doesNotHaveDuplicates();
        assertThat(Metric.values()).extracting(Metric::description)
            .allMatch(text -> !text.isBlank() && !text.endsWith("."));
    }

    @Test
    void everyMetricHasANameThatPrometheusAccepts() {
        assertThat(Metric.values()).filteredOn(metric -> metric.kind() != Kind.TEXT)
            .extracting(metric -> metric.prometheusName().replaceFirst("_total$", ""))
            .doesNotHaveDuplicates().allMatch(name -> name.matches("modeldisk(_[a-z]+)+"));
        assertThat(Metric.values()).filteredOn(metric -> metric.kind() == Kind.TEXT)
            .extracting(metric -> metric.prometheusName() + metric.label()).doesNotHaveDuplicates();
        assertThat(Metric.UPDATES.prometheusName()).isEqualTo("modeldisk_shard_updates_total");
        assertThat(Metric.values()).allMatch(
            metric -> metric.prometheusName().endsWith("_total") == (metric.kind() == Kind.COUNTER));
        assertThat(Metric.STALL_MS.prometheusName()).isEqualTo("modeldisk_mount_stall_seconds_total");
        assertThat(Metric.PUSH_RATE.prometheusName()).isEqualTo("modeldisk_mount_push_bytes_per_second");
        assertThat(Metric.LEARNER_BEHIND_MS.prometheusName()).isEqualTo("modeldisk_learner_behind_seconds");
        assertThat(Metric.MOUNT_PUSHED_BYTES.prometheusName()).isEqualTo("modeldisk_mount_pushed_bytes_total");
    }
}
