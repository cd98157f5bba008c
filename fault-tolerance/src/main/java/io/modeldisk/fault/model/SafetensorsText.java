package io.modeldisk.fault.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Writes tensors as the JSON of a safetensors header. */
public final class SafetensorsText {
    private static final ObjectMapper JSON = new ObjectMapper();

    private SafetensorsText() {}

    /**
     * Returns the JSON of these tensors, which are in the order of their data.
     *
     * @param metadata the entries of {@code __metadata__}, which is absent if there are none
     */
    public static byte[] of(List<Tensor> tensors, Map<String, String> metadata) {
        long first = tensors.getFirst().begin();
        ObjectNode header = JSON.createObjectNode();
        if (!metadata.isEmpty()) {
            metadata.forEach(header.putObject(SafetensorsHeader.METADATA)::put);
        }
        for (Tensor tensor : tensors) {
            ObjectNode entry = header.putObject(tensor.name());
            entry.put("dtype", tensor.type());
            ArrayNode shape = entry.putArray("shape");
            Arrays.stream(tensor.shape()).forEach(shape::add);
            entry.putArray("data_offsets").add(tensor.begin() - first).add(tensor.end() - first);
        }
        try {
            return JSON.writeValueAsBytes(header);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the header of a safetensors file cannot be written as JSON", e);
        }
    }
}
