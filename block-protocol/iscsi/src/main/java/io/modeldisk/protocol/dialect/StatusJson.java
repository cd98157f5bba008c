package io.modeldisk.protocol.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.metrics.Metric;

/** Writes and reads metrics at the places in a status that {@link Metric} declares. */
public final class StatusJson {
    private StatusJson() {}

    /** Sets a whole number of {@code object}, which is of the metric's scope. */
    public static void put(ObjectNode object, Metric metric, long value) {
        group(object, metric).put(metric.key(), value);
    }

    /** Sets a number with decimals. */
    public static void put(ObjectNode object, Metric metric, double value) {
        group(object, metric).put(metric.key(), value);
    }

    /** The metric's node; a missing node if {@code object} does not have it. */
    public static JsonNode get(JsonNode object, Metric metric) {
        return (metric.group().isEmpty() ? object : object.path(metric.group())).path(metric.key());
    }

    private static ObjectNode group(ObjectNode object, Metric metric) {
        return metric.group().isEmpty() ? object : object.withObjectProperty(metric.group());
    }
}
