package io.modeldisk.fault.model;

import java.util.Arrays;

/**
 * The description of a tensor in a safetensors header.
 *
 * @param begin the start of the tensor's data, in bytes from the start of all data
 * @param end the end of the tensor's data, exclusive
 */
public record Tensor(String name, String type, long[] shape, long begin, long end) {
    /** Checks that type, shape and data of this tensor agree, and that the type can be converted to float32. */
    void validate(long dataBytes) throws InvalidSafetensorsException {
        TensorType known = TensorType.named(type);
        if (known == null) {
            throw invalid("has unknown dtype " + type + "; known types are " + Arrays.toString(TensorType.values()));
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
        if (!known.isFloat32OrShorter()) {
            throw invalid(
                "has dtype " + type + ", but only F32, BF16 and F16 are supported; "
                    + (known == TensorType.F64
                        ? "convert the tensor to F32"
                        : "leave the tensor out of the file, because only parameters are trained (save() of the"
                            + " Python package modeldisk writes only these)"));
        }
    }

    /** The size that the shape needs in float32, in bytes. */
    long shapeBytes() throws InvalidSafetensorsException {
        return sizeBytes(TensorType.F32);
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
            throw invalid("has shape " + Arrays.toString(shape) + ", whose size in bytes does not fit in 64 bits", e);
        }
    }

    private InvalidSafetensorsException invalid(String what) {
        return invalid(what, null);
    }

    private InvalidSafetensorsException invalid(String what, Throwable cause) {
        return new InvalidSafetensorsException("tensor '" + name + "' " + what, cause);
    }
}
