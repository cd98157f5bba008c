package io.modeldisk.protocol.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.metrics.Metric;
import org.junit.jupiter.api.Test;

class MetricsTest {
    @Test
    void everyMetricHasADistinctPathAndADescription() {
        assertThat(Metric.values()).extracting(Metric::path).doesNotHaveDuplicates();
        assertThat(Metric.values()).extracting(Metric::description)
            .allMatch(text -> !text.isBlank() && !text.endsWith("."));
    }

    @Test
    void metricReadFromAStatusHasTheWrittenValue() {
        for (Metric metric : Metric.values()) {
            ObjectNode object = JsonNodeFactory.instance.objectNode();
            StatusJson.put(object, metric, 7L);
            assertThat(StatusJson.get(object, metric).asLong()).as(metric.path()).isEqualTo(7);
        }
        ObjectNode empty = JsonNodeFactory.instance.objectNode();
        assertThat(StatusJson.get(empty, Metric.VERSION_MIN).isMissingNode()).isTrue();
    }

    @Test
    void metricsOfAGroupAreWrittenIntoOneJsonObject() {
        ObjectNode shard = JsonNodeFactory.instance.objectNode();
        StatusJson.put(shard, Metric.VERSION_MIN, 1L);
        StatusJson.put(shard, Metric.VERSION_MAX, 2L);
        StatusJson.put(shard, Metric.PUSHES, 3L);
        assertThat(shard).hasToString("{\"version\":{\"min\":1,\"max\":2},\"pushes\":3}");
    }
}
