package io.modeldisk.mount.tensor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.striping.ReadVersion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The header of a file, which precedes the weights. Its length does not depend on the version of the weights. Immutable. */
abstract class FileHead {
    private static final int PAGE_BYTES = 4096;

    /** Returns the length of the head in bytes. */
    abstract int bytes();

    /** Returns the head of a file with weights of this version. */
    abstract byte[] of(ReadVersion version);

    /**
     * Returns the head of an npy file, format 1.0 or, for a header of 64 KiB or more, 2.0. Source: <a
     * href="https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html">the format's description</a>.
     */
    static FileHead npy(NamedTensor tensor) {
        String shape = tensor.shape().stream().map(String::valueOf).collect(Collectors.joining(", "));
        String comma = tensor.shape().size() == 1 ? "," : "";
        String dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + comma + "), }";
        boolean isLong = dictionary.length() > 0xF000;
        int start = isLong ? 12 : 10;
        int bytes = (start + dictionary.length() + 1 + 63) / 64 * 64;
        byte[] head = new byte[bytes];
        Arrays.fill(head, (byte) ' ');
        ByteBuffer buffer = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).put((byte) 0x93)
            .put("NUMPY".getBytes(StandardCharsets.US_ASCII)).put((byte) (isLong ? 2 : 1)).put((byte) 0);
        if (isLong) {
            buffer.putInt(bytes - start);
        } else {
            buffer.putShort((short) (bytes - start));
        }
        buffer.put(dictionary.getBytes(StandardCharsets.US_ASCII)).put(bytes - 1, (byte) '\n');
        return new FileHead() {
            @Override
            int bytes() {
                return head.length;
            }

            @Override
            byte[] of(ReadVersion version) {
                return head;
            }
        };
    }

    /**
     * Returns the head of a safetensors file. Its entry {@code __metadata__} contains the metadata of the file with the initial
     * weights, the name of the model, the consistency mode, the round, and the lowest and highest version of a block. The head is
     * padded to whole pages, so the weights begin at a page. Source: <a
     * href="https://github.com/huggingface/safetensors#format">the format's description</a>.
     */
    static FileHead safetensors(ModelFacts facts, List<NamedTensor> tensors, Map<String, String> initial) {
        ObjectMapper mapper = new ObjectMapper();
        byte[] list = NamedTensor.toJson(tensors, ValueType.FLOAT32);
        ReadVersion longest = new ReadVersion(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, 0, 0, 0, true);
        int longestMetadata = json(mapper, metadata(mapper, facts, initial, longest)).length;
        // The metadata and the list are two JSON objects. They are merged into one: a comma replaces the closing brace of the
        // first and the opening brace of the second object.
        int bytes = (Long.BYTES + longestMetadata + list.length - 1 + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        return new FileHead() {
            @Override
            int bytes() {
                return bytes;
            }

            @Override
            byte[] of(ReadVersion version) {
                byte[] metadata = json(mapper, metadata(mapper, facts, initial, version));
                byte[] head = new byte[bytes];
                // The format allows spaces after the JSON.
                Arrays.fill(head, (byte) ' ');
                ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).putLong((long) bytes - Long.BYTES)
                    .put(metadata, 0, metadata.length - 1).put((byte) ',').put(list, 1, list.length - 1);
                return head;
            }
        };
    }

    private static ObjectNode metadata(ObjectMapper mapper, ModelFacts facts, Map<String, String> initial,
        ReadVersion version) {
        ObjectNode metadata = mapper.createObjectNode();
        ObjectNode entries = metadata.putObject(NamedTensor.METADATA).put("format", "pt");
        initial.forEach((name, value) -> {
            // The file with the initial weights can be a copy of model.safetensors. The modeldisk entries of a copy are outdated.
            if (!name.startsWith("modeldisk.")) {
                entries.put(name, value);
            }
        });
        entries.put("modeldisk.model", facts.model())
            .put("modeldisk.consistency", facts.consistency());
        if (version.round() != ReadVersion.NO_ROUND) {
            entries.put("modeldisk.round", Long.toString(version.round()));
        }
        entries.put("modeldisk.version.min", Long.toString(version.minVersion()))
            .put("modeldisk.version.max", Long.toString(version.maxVersion()));
        return metadata;
    }

    private static byte[] json(ObjectMapper mapper, ObjectNode node) {
        try {
            return mapper.writeValueAsBytes(node);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the header of a safetensors file cannot be written as JSON", e);
        }
    }
}
