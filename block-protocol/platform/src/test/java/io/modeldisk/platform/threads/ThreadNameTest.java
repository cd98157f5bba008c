package io.modeldisk.platform.threads;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ThreadNameTest {
    /** The length of a name in top, from prctl(2): 16 bytes with the zero at the end. */
    private static final int VISIBLE_BYTES = 15;

    @Test
    void platformThreadsDifferInThePartOfTheNameThatLinuxShows() {
        assertThat(Arrays.stream(ThreadName.values()).filter(name -> !name.builder().unstarted(() -> {}).isVirtual())
            .map(name -> name.of("x")).map(name -> name.substring(0, Math.min(name.length(), VISIBLE_BYTES))))
            .doesNotHaveDuplicates();
    }

    @Test
    void nameHasTheRoleAndTheDetails() {
        assertThat(ThreadName.LEASE.of("resnet", 0)).isEqualTo("modeldisk-lease-resnet-0");
        assertThat(ThreadName.LEASE).hasToString("modeldisk-lease-MODEL-SHARD");
    }
}
