package io.modeldisk.protocol.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ReplicateCommandTest {
    private static final ModelFacts FACTS = new ModelFacts("m", 8192, 4096, 0, 1, "sum", "asp", 1, "zeros");

    @Test
    void replicateCdbDependsOnEveryFactExceptTheDirectory() {
        byte[] cdb = ReplicateCommand.cdb(7, FACTS.in("a"));
        assertThat(cdb).isEqualTo(ReplicateCommand.cdb(7, FACTS.in("b"))).isEqualTo(ReplicateCommand.cdb(7, FACTS))
            .isNotEqualTo(
                ReplicateCommand.cdb(7, new ModelFacts("m", 8192, 4096, 0, 1, "sum", "bsp", 1, "zeros").in("a")));
    }

    @Test
    void jsonOfFactsWithoutADirectoryOmitsTheState() {
        assertThat(new String(FACTS.toJson(), StandardCharsets.UTF_8)).doesNotContain("state");
    }
}
