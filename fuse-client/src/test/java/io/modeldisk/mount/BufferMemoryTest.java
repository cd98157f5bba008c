package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.platform.linux.MemoryLimit;
import java.io.IOException;
import org.junit.jupiter.api.Test;

final class BufferMemoryTest {
    private static final MemoryLimit LIMIT = new MemoryLimit(1 << 30, "control group /learners");

    @Test
    void buffersWithinTheMemoryLimitAreAccepted() {
        assertThatCode(() -> ModelMount.requireMemory(1 << 30, ExchangeScheme.SYNC, LIMIT)).doesNotThrowAnyException();
    }

    @Test
    void errorForTooLargeBuffersStatesTheNeededAndTheAvailableMemory() {
        assertThatThrownBy(() -> ModelMount.requireMemory(5L << 29, ExchangeScheme.OVERLAP, LIMIT))
            .isInstanceOf(IOException.class)
            .hasMessageStartingWith("exchange overlap needs 2.50 GiB of memory, but this process has 1.00 GiB available"
                + " (control group /learners)");
    }
}
