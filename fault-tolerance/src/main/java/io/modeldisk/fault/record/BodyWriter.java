package io.modeldisk.fault.record;

import java.lang.foreign.MemorySegment;

/** Writes the body of a record. */
@FunctionalInterface
public interface BodyWriter {
    /** Writes the body to memory from {@code offset}. Must write as many bytes as were announced, and must not fail. */
    void write(MemorySegment memory, long offset);
}
