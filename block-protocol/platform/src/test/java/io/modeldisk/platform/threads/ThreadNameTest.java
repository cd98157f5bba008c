package io.modeldisk.platform.threads;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ThreadNameTest {
    /**
     * The number of bytes of a thread name that Linux shows, for example in top. The limit is 16 bytes including the final zero
     * byte (prctl(2)).
     */
    private static final int VISIBLE_BYTES = 15;

    @Test
    void platformThreadsDifferInThePartOfTheNameThatLinuxShows() {
        assertThat(Arrays.stream(ThreadName.values()).filter(name -> !name.builder().unstarted(() -> {}).isVirtual())
            .map(name -> name.of("x")).map(name -> name.substring(0, Math.min(name.length(), VISIBLE_BYTES))))
            .doesNotHaveDuplicates();
    }

    @Test
    void nameContainsTheRoleAndTheDetails() {
        assertThat(ThreadName.LEASE.of("resnet", 0)).isEqualTo("modeldisk-lease-resnet-0");
        assertThat(ThreadName.LEASE).hasToString("modeldisk-lease-MODEL-SHARD");
    }
}
