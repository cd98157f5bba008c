package io.modeldisk.server.model;

import java.util.Arrays;

/**
 * A tensor as a safetensors header describes it.
 *
 * @param begin where its data starts, in bytes from the start of all data
 * @param end where its data ends, exclusive
 */
record Tensor(String name, String type, long[] shape, long begin, long end) {
    /** Checks a tensor without regard to others. */
    void validate(long dataBytes) throws InvalidSafetensorsException {
        TensorType known = TensorType.named(type);
        if (known == null) {
            throw invalid("has unknown dtype " + type + "; known are " + Arrays.toString(TensorType.values()));
        }
        if (begin < 0 || begin > end || end > dataBytes) {
            throw invalid(
                "has data_offsets [" + begin + ", " + end + "], which must ascend and be within the " + dataBytes
                    + " bytes of data");
        }
        if (end - begin != sizeBytes(known)) {
            throw invalid(
                "has " + (end - begin) + " bytes of data, but its shape " + Arrays.toString(shape) + " of " + type
                    + " needs "
                    + sizeBytes(known));
        }
        if (known != TensorType.F32) {
            throw invalid("has dtype " + type + ", which is not supported yet: only F32 is; convert the file to F32");
        }
    }

    private long sizeBytes(TensorType known) throws InvalidSafetensorsException {
        long bytes = known.elementBytes();
        boolean empty = false;
        for (long length : shape) {
            if (length < 0) {
                throw invalid("has shape " + Arrays.toString(shape) + ", which must not have negative lengths");
            }
            empty |= length == 0;
        }
        if (empty) {
            return 0;
        }
        try {
            for (long length : shape) {
                bytes = Math.multiplyExact(bytes, length);
            }
            return bytes;
        } catch (ArithmeticException e) {
            throw invalid("has shape " + Arrays.toString(shape) + ", which is more bytes than 64 bits count", e);
        }
    }

    private InvalidSafetensorsException invalid(String what) {
        return invalid(what, null);
    }

    private InvalidSafetensorsException invalid(String what, Throwable cause) {
        return new InvalidSafetensorsException("tensor '" + name + "' " + what, cause);
    }
}
