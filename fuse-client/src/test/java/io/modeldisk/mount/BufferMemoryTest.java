package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.linux.MemoryLimit;
import java.io.IOException;
import org.junit.jupiter.api.Test;

final class BufferMemoryTest {
    private static final MemoryLimit LIMIT = new MemoryLimit(1 << 30, "control group /learners");

    @Test
    void buffersWithinTheMemoryLimitAreAccepted() {
        assertThatCode(() -> BufferMemory.require(1 << 30, "sync", LIMIT)).doesNotThrowAnyException();
    }

    @Test
    void errorForTooLargeBuffersStatesTheNeededAndTheAvailableMemory() {
        assertThatThrownBy(() -> BufferMemory.require(5L << 29, "overlap", LIMIT)).isInstanceOf(IOException.class)
            .hasMessageStartingWith("exchange overlap needs 2.50 GiB of memory, but this process has 1.00 GiB available"
                + " (control group /learners)");
    }
}
