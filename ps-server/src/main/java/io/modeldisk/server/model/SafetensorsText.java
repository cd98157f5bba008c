package io.modeldisk.server.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.List;

/** Writes tensors as the JSON of the header of a safetensors file. */
public final class SafetensorsText {
    private static final ObjectMapper JSON = new ObjectMapper();

    private SafetensorsText() {}

    /**
     * Returns the JSON of these tensors, which are in the order of their data.
     *
     * @param metadata whether the text begins with the entry that names the format, which frameworks expect in a file
     */
    public static byte[] of(List<Tensor> tensors, boolean metadata) {
        long first = tensors.getFirst().begin();
        ObjectNode header = JSON.createObjectNode();
        if (metadata) {
            header.putObject(SafetensorsHeader.METADATA).put("format", "pt");
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
