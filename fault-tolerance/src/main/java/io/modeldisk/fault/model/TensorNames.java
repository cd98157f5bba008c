package io.modeldisk.fault.model;

import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.text.Plural;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Names and shapes of tensors in a model whose weights start as zeros, from a JSON file in the form of a safetensors header. The
 * members {@code dtype} and {@code data_offsets} of a tensor can be absent. The type is always F32; if no tensor has offsets, the
 * tensors follow each other in the order of the file.
 */
final class TensorNames {
    private TensorNames() {}

    /**
     * Reads the file.
     *
     * @param sizeBytes the size of the model; null if the tensors determine it
     * @throws IOException if the file cannot be read, or does not describe the whole model; the message has the wrong values
     */
    static ModelSource read(Path file, Long sizeBytes) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new SettingException(file + (Files.exists(file) ? " is not a regular file" : " does not exist")
                + "; give the path of a JSON file with the names and shapes of the tensors");
        }
        if (Files.size(file) > SafetensorsFile.MAX_HEADER_BYTES) {
            throw new InvalidSafetensorsException(file + ": the file has " + Files.size(file)
                + " bytes, but the maximum is " + SafetensorsFile.MAX_HEADER_BYTES);
        }
        byte[] text = Files.readAllBytes(file);
        try {
            List<Tensor> tensors = laidOut(SafetensorsHeader.parseNames(text));
            long end = tensors.stream().mapToLong(Tensor::end).max().orElse(0);
            if (end <= 0) {
                throw new InvalidSafetensorsException("the file has "
                    + Plural.counted(tensors.size(), "tensor") + " and no data; list tensors with weights");
            }
            long total = sizeBytes == null ? end : sizeBytes;
            // The digest is part of the model's identity, because all shards must have the same names.
            String digest = HexFormat.of().formatHex(SafetensorsFile.sha256().digest(text));
            return new ZeroWeights(total, SafetensorsHeader.inOrder(tensors, total, "the model"), digest);
        } catch (InvalidSafetensorsException e) {
            throw new InvalidSafetensorsException(file + ": " + e.getMessage(), e);
        }
    }

    /** Gives offsets to tensors that have none, if no tensor has any. */
    private static List<Tensor> laidOut(List<Tensor> tensors) throws InvalidSafetensorsException {
        for (Tensor tensor : tensors) {
            if (!tensor.type().equals(TensorType.F32.name())) {
                throw new InvalidSafetensorsException("tensor '" + tensor.name() + "' has dtype " + tensor.type()
                    + ", but the weights of a model are F32; leave dtype out");
            }
        }
        List<Tensor> bare = tensors.stream().filter(tensor -> tensor.begin() == SafetensorsHeader.NO_OFFSET).toList();
        if (bare.isEmpty()) {
            return tensors;
        }
        if (bare.size() < tensors.size()) {
            throw new InvalidSafetensorsException("tensor '" + bare.getFirst().name()
                + "' has no data_offsets, but other tensors have; give data_offsets to all tensors or to none");
        }
        List<Tensor> placed = new ArrayList<>();
        long at = 0;
        for (Tensor tensor : tensors) {
            long end = at + tensor.shapeBytes();
            if (end < at) {
                throw new InvalidSafetensorsException("the end of tensor '" + tensor.name()
                    + "' does not fit in 64 bits");
            }
            placed.add(new Tensor(tensor.name(), tensor.type(), tensor.shape(), at, end));
            at = end;
        }
        return placed;
    }
}
