package io.modeldisk.striping;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ArrivalsTest {
    private final ManualClock clock = new ManualClock();

    private void arrive(Arrivals arrivals, int shard) {
        clock.advance(Duration.ofNanos(1));
        arrivals.arrived(shard);
    }

    @Test
    void shardThatEndsLastLagsBehindTheNextOne() {
        Arrivals arrivals = new Arrivals(clock, 3);
        for (int pull = 0; pull < 2; pull++) {
            long startNs = clock.nanoTime();
            arrivals.begin(startNs);
            assertThat(arrivals.firstNs()).isEqualTo(startNs);
            for (int shard : new int[]{2, 0, 1, 0, 1, 1, 1}) {
                arrive(arrivals, shard);
            }
            assertThat(arrivals.firstNs()).isEqualTo(startNs + 1);
            assertThat(arrivals.lastShard()).isEqualTo(1);
            assertThat(arrivals.lagNs()).isEqualTo(3);
        }
    }

    @Test
    void oneShardLagsBehindNoOther() {
        Arrivals arrivals = new Arrivals(clock, 1);
        arrivals.begin(clock.nanoTime());
        arrive(arrivals, 0);
        assertThat(arrivals.lagNs()).isZero();
    }
}
