package io.modeldisk.protocol.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Writes and reads the metrics in the JSON of a status. {@link Metric} declares the group and the key of each metric. */
public final class StatusJson {
    private StatusJson() {}

    /** Sets a metric to a whole number. {@code object} must be the JSON object of the metric's {@link Metric.Scope}. */
    public static void put(ObjectNode object, Metric metric, long value) {
        group(object, metric).put(metric.key(), value);
    }

    /** Sets a flag. */
    public static void put(ObjectNode object, Metric metric, boolean value) {
        group(object, metric).put(metric.key(), value);
    }

    /** Sets a text, or a flag whose value is a reason. */
    public static void put(ObjectNode object, Metric metric, String value) {
        group(object, metric).put(metric.key(), value);
    }

    /** Returns the node of a metric, or a missing node if {@code object} does not have the metric. */
    public static JsonNode get(JsonNode object, Metric metric) {
        return (metric.group().isEmpty() ? object : object.path(metric.group())).path(metric.key());
    }

    private static ObjectNode group(ObjectNode object, Metric metric) {
        return metric.group().isEmpty() ? object : object.withObjectProperty(metric.group());
    }
}
