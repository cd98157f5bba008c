package io.modeldisk.fault.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.dialect.ModelFacts;
import org.junit.jupiter.api.Test;

class CheckpointFactsTest {
    private static ModelFacts model(String consistency) {
        return new ModelFacts("test", 8192, 4096, 0, 1, "sum", consistency, 1, "zeros");
    }

    private static String change(String before, String now) {
        return CheckpointFacts.of(model(before), 1).changeOfMode(model(now));
    }

    @Test
    void otherModeThanThatOfTheCheckpointIsAWarning() {
        assertThat(change("asp", "bsp"))
            .startsWith("the checkpoint was taken under --consistency asp, but the shard continues under bsp;");
        assertThat(change("bsp", "ssp:3")).endsWith("start them with --consistency bsp");
        assertThat(change("bsp", "bsp")).isNull();
        assertThat(change("ssp:2", "ssp:4")).as("the mode is the same").isNull();
    }
}
