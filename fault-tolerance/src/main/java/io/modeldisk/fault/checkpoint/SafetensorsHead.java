package io.modeldisk.fault.checkpoint;

import io.modeldisk.fault.model.SafetensorsText;
import io.modeldisk.fault.model.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Writes the start of a safetensors file: the length of the header in 8 bytes (little-endian) and the header. Source: <a
 * href="https://github.com/huggingface/safetensors#format">the format's description</a>.
 */
final class SafetensorsHead {
    private static final int PAGE_BYTES = 4096;
    /** Frameworks expect this entry. No other entry is allowed, because the loader of a checkpoint compares the whole head. */
    private static final Map<String, String> METADATA = Map.of("format", "pt");

    private SafetensorsHead() {}

    /**
     * Encodes the start of a file with these tensors, which are adjacent and in the order of their data. A byte of the model at a
     * multiple of 4096 is at a multiple of 4096 in the file, too.
     */
    static byte[] encode(List<Tensor> tensors) {
        long first = tensors.getFirst().begin();
        byte[] json = SafetensorsText.of(tensors, METADATA);
        int pageOffset = (int) (first % PAGE_BYTES);
        int bytes = pageOffset + Math.ceilDiv(Long.BYTES + json.length - pageOffset, PAGE_BYTES) * PAGE_BYTES;
        byte[] head = new byte[bytes];
        // The format allows spaces after the JSON.
        Arrays.fill(head, (byte) ' ');
        ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).putLong(bytes - Long.BYTES).put(json);
        return head;
    }
}
