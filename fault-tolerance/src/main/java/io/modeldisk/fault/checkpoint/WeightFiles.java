package io.modeldisk.fault.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.fault.model.Tensor;
import io.modeldisk.platform.text.PlainText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The division of the weights of a model into safetensors files, in the layout of Hugging Face for large models. The same tensors
 * always give the same files, so several shards can write them together. Immutable.
 */
final class WeightFiles {
    /** The name of the file that maps the tensors to files. */
    static final String INDEX = "model.safetensors.index.json";

    private static final ObjectMapper JSON = new ObjectMapper();

    private final List<WeightFile> files;
    private final byte[] index;

    private WeightFiles(List<WeightFile> files, byte[] index) {
        this.files = files;
        this.index = index;
    }

    /**
     * Divides a model into files.
     *
     * @param tensors the tensors of the model, in the order of their data
     * @param metadata the entries of the index besides the size
     * @param maxDataBytes the maximum size of the data in one file; a larger tensor has a file of its own
     */
    static WeightFiles of(List<Tensor> tensors, Map<String, String> metadata, long maxDataBytes) {
        List<List<Tensor>> groups = new ArrayList<>();
        for (Tensor tensor : tensors) {
            if (groups.isEmpty() || tensor.end() - groups.getLast().getFirst().begin() > maxDataBytes) {
                groups.add(new ArrayList<>());
            }
            groups.getLast().add(tensor);
        }
        List<WeightFile> files = new ArrayList<>();
        ObjectNode index = JSON.createObjectNode();
        ObjectNode entries = index.putObject("metadata");
        metadata.forEach(entries::put);
        entries.put("total_size", tensors.getLast().end());
        ObjectNode map = index.putObject("weight_map");
        for (List<Tensor> group : groups) {
            String name = PlainText.format("model-%05d-of-%05d.safetensors", files.size() + 1, groups.size());
            group.forEach(tensor -> map.put(tensor.name(), name));
            files.add(new WeightFile(name, SafetensorsHead.encode(group), group.getFirst().begin(),
                group.getLast().end()));
        }
        try {
            return new WeightFiles(List.copyOf(files),
                JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(index));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the index of the tensors cannot be written as JSON", e);
        }
    }

    /** The files, in the order of the model. The ranges of the files fill the model without gaps. */
    List<WeightFile> files() {
        return files;
    }

    /** The contents of the file {@value #INDEX}. */
    byte[] index() {
        return index;
    }
}
