package io.modeldisk.fault.model;

import java.util.Arrays;

/** The data types of the safetensors format, each with the size of an element in bytes. */
enum TensorType {
    BOOL(1), U8(1), I8(1), F8_E5M2(1), F8_E4M3(1), F8_E8M0(1), I16(2), U16(2), F16(2), BF16(2), I32(4), U32(4), F32(
        4), F64(8), I64(8), U64(8), C64(8);

    private final int elementBytes;

    TensorType(int elementBytes) {
        this.elementBytes = elementBytes;
    }

    /** True if a model can contain tensors of this type. The weights are float32, which represents these 16-bit types exactly. */
    boolean isFloat32OrShorter() {
        return this == F32 || this == BF16 || this == F16;
    }

    int elementBytes() {
        return elementBytes;
    }

    /** Returns the type with this name; null if the name is unknown. */
    static TensorType named(String name) {
        return Arrays.stream(values()).filter(type -> type.name().equals(name)).findFirst().orElse(null);
    }
}
