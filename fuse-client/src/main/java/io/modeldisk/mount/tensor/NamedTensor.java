package io.modeldisk.mount.tensor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.protocol.dialect.ValueType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A tensor of float32 weights.
 *
 * @param begin the start of the tensor in the model, in bytes
 * @param end the end of the tensor in the model, exclusive, in bytes
 */
public record NamedTensor(String name, List<Long> shape, long begin, long end) {
    static final String METADATA = "__metadata__";

    private static final JsonMapper JSON = JsonMapper.builder()
        .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

    /**
     * Reads the tensors of a model from the text that a shard returns.
     *
     * @param text JSON in the form of a safetensors header
     * @param sizeBytes the size of the model
     * @return the tensors, in the order of their data
     * @throws IOException if the text does not describe tensors within the model; the message names the tensor
     */
    public static List<NamedTensor> parse(byte[] text, long sizeBytes) throws IOException {
        List<NamedTensor> tensors = new ArrayList<>();
        try {
            for (Map.Entry<String, JsonNode> member : JSON.readTree(text).properties()) {
                if (member.getKey().equals(METADATA)) {
                    continue;
                }
                List<Long> shape = new ArrayList<>();
                member.getValue().path("shape").forEach(length -> shape.add(length.asLong(-1)));
                JsonNode offsets = member.getValue().path("data_offsets");
                NamedTensor tensor = new NamedTensor(member.getKey(), List.copyOf(shape), offsets.path(0).asLong(-1),
                    offsets.path(1).asLong(-1));
                tensor.check(sizeBytes);
                tensors.add(tensor);
            }
        } catch (JsonProcessingException e) {
            throw new IOException("the names of the tensors are not valid JSON: " + e.getOriginalMessage(), e);
        }
        tensors.sort(Comparator.comparingLong(NamedTensor::begin).thenComparingLong(NamedTensor::end));
        return tensors;
    }

    /** Returns the metadata of the file with the initial weights, from the text that a shard returns. */
    public static Map<String, String> metadata(byte[] text) throws IOException {
        Map<String, String> metadata = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : JSON.readTree(text).path(METADATA).properties()) {
            metadata.put(entry.getKey(), entry.getValue().asText());
        }
        return metadata;
    }

    /**
     * Returns tensors in the form of a safetensors header, without {@code __metadata__}.
     *
     * @param type the type of the values, which determines {@code dtype} and {@code data_offsets}
     */
    public static byte[] toJson(List<NamedTensor> tensors, ValueType type) {
        ObjectNode entries = JSON.createObjectNode();
        for (NamedTensor tensor : tensors) {
            ObjectNode entry = entries.putObject(tensor.name);
            entry.put("dtype", type.toString().toUpperCase(Locale.ROOT));
            ArrayNode shape = entry.putArray("shape");
            tensor.shape.forEach(shape::add);
            entry.putArray("data_offsets").add(tensor.begin / type.widening()).add(tensor.end / type.widening());
        }
        try {
            return JSON.writeValueAsBytes(entries);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the names of the tensors cannot be written as JSON", e);
        }
    }

    private void check(long sizeBytes) throws IOException {
        long bytes = Float.BYTES;
        for (long length : shape) {
            bytes = length < 0 || length > 0 && bytes > Long.MAX_VALUE / length ? -1 : bytes * length;
        }
        if (begin < 0 || end > sizeBytes || end - begin != bytes) {
            throw new IOException(
                "tensor '" + name + "' of shape " + shape + " does not match its range, bytes " + begin + " to "
                    + end + " of the " + sizeBytes + " bytes of the model");
        }
    }
}
