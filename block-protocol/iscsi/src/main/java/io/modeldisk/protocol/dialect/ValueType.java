package io.modeldisk.protocol.dialect;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.memory.FiniteValues;
import io.modeldisk.protocol.scsi.LogicalBlock;

/**
 * The type of the weights and gradients that a train unit moves. A shard keeps its weights in float32, and has one train unit for
 * each type. The unit of a 16-bit type has half the size: one logical block has 2048 weights.
 */
public enum ValueType {
    /** IEEE 754 binary32. */
    FLOAT32("f32", 0, Float.BYTES, 0x7F80_0000),
    /** The upper half of a float32: 8 bits of exponent, 7 bits of fraction. */
    BFLOAT16("bf16", 3, Short.BYTES, 0x7F80),
    /** IEEE 754 binary16: 5 bits of exponent, 10 bits of fraction. */
    FLOAT16("f16", 4, Short.BYTES, 0x7C00);

    private final String text;
    private final int lun;
    private final int bytes;
    private final int infinityBits;

    ValueType(String text, int lun, int bytes, int infinityBits) {
        this.text = text;
        this.lun = lun;
        this.bytes = bytes;
        this.infinityBits = infinityBits;
    }

    /**
     * Returns the type with this name.
     *
     * @throws IllegalArgumentException if the name is unknown; the message lists the types
     */
    @JsonCreator
    public static ValueType parse(String name) {
        return EnumNames.parse(ValueType.class, "dtype", name);
    }

    /** The logical unit number of the train unit of this type. */
    public int lun() {
        return lun;
    }

    /** The size of a value in bytes. */
    public int bytes() {
        return bytes;
    }

    /** Returns whether all values of a range of memory are finite: no NaN and no infinity. */
    public boolean areFinite(DataMemory memory, long offset, long lengthBytes) {
        return FiniteValues.areIn(memory, offset, lengthBytes, bytes, infinityBits);
    }

    /** The size of a float32 value divided by the size of a value of this type. */
    public int widening() {
        return Float.BYTES / bytes;
    }

    /**
     * Returns whether a shard has a unit of this type. The blocks of such a unit must not be smaller than a logical block.
     * {@code blockSizeBytes} is the size of the shard's blocks in float32.
     */
    public boolean fits(int blockSizeBytes) {
        return blockSizeBytes / widening() >= LogicalBlock.BYTES;
    }

    /** Returns the name of the type: {@code f32}, {@code bf16} or {@code f16}. */
    @JsonValue
    @Override
    public String toString() {
        return text;
    }
}
