package io.modeldisk.fault.coordination;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;

/** Converts the contents of znodes from and to JSON. */
final class Records {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Records() {}

    static byte[] write(Object value) {
        try {
            return JSON.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write " + value + " as JSON", e);
        }
    }

    /**
     * Reads the contents of a znode.
     *
     * @throws IOException if the contents were not written by modeldisk
     */
    static <T> T read(String path, byte[] data, Class<T> type) throws IOException {
        try {
            T value = data == null ? null : JSON.readValue(data, type);
            if (value != null) {
                return value;
            }
        } catch (JsonProcessingException e) {
            throw new IOException("the znode " + path + " was not written by modeldisk: " + e.getOriginalMessage(), e);
        }
        throw new IOException("the znode " + path + " was not written by modeldisk: it is empty");
    }
}
