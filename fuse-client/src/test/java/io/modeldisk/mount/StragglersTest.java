package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class StragglersTest {
    private final ManualClock clock = new ManualClock();
    private final Stragglers stragglers = new Stragglers("me", clock);

    private static JsonNode shards(String... learners) throws IOException {
        return new ObjectMapper().readTree("[{\"learners\":[" + String.join(",", learners) + "]}]");
    }

    private static String late(String name, long lateMs) {
        return "{\"learner\":\"" + name + "\",\"lateMs\":" + lateMs + "}";
    }

    private String look(String... learners) throws IOException {
        stragglers.look(shards(learners));
        return stragglers.awaited();
    }

    @Test
    void learnerForWhichOthersWaitNowIsNamed() throws Exception {
        assertThat(look(late("a", 500),
            "{\"learner\":\"b\",\"behind\":{\"rounds\":1,\"ms\":70,\"waitedFor\":true}}",
            "{\"learner\":\"c\",\"behind\":{\"rounds\":1,\"ms\":900,\"waitedFor\":false}}")).isEqualTo("learner b");
    }

    @Test
    void learnerThatWasLateRecentlyIsNamedInsteadOfOneThatWasLateBefore() throws Exception {
        assertThat(look(late("me", 99_000), late("a", 50_000), late("b", 100))).isEqualTo("learner a");
        clock.advance(Duration.ofSeconds(21));
        assertThat(look(late("me", 99_000), late("a", 50_000), late("b", 900))).isEqualTo("learner b");
        clock.advance(Duration.ofSeconds(1));
        assertThat(look(late("me", 99_000), late("a", 50_100), late("b", 2_000))).isEqualTo("learner b");
    }

    @Test
    void noLearnerIsNamedIfNoneWasLate() throws Exception {
        assertThat(stragglers.awaited()).isEqualTo(Stragglers.OTHERS);
        assertThat(look(late("me", 7), late("a", 0))).isEqualTo(Stragglers.OTHERS);
        assertThat(look(late("me", 7))).isEqualTo(Stragglers.SHARDS);
    }
}
