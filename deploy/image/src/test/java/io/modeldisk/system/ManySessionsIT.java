package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.bench.load.Measured;
import io.modeldisk.bench.protocol.ManySessions;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.striping.ModelAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests many sessions with one shard, which has the default memory limits. */
final class ManySessionsIT {
    private static final int SESSIONS = 256;
    private static final int REQUEST_BYTES = 256 << 10;
    private static final int REQUESTS = 32;
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long MODEL_BYTES = 64L << 20;

    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    /** If the shard refuses a command, the session of this command fails, and so does the test. */
    @Test
    void shardRefusesNoCommandOf256Sessions() throws Exception {
        assertAllFinish(SESSIONS, 0);
    }

    /** 96 sessions request data and do not read it. The shard has too few buffers to serve all 96 sessions at once. */
    @Test
    void sessionsThatDoNotReadDoNotDelayOtherSessions() throws Exception {
        assertAllFinish(8, 96);
    }

    @Test
    void benchMeasuresSessionsWithoutAndWithStoppedReaders() throws Exception {
        Path json = sandbox.path("sessions.json");
        sandbox
            .run(Sandbox.modeldisk("bench", "protocol", "--measures", "sessions", "--clients", "8", "--duration", "1",
                "--model-size", "8m", "--out", json))
            .succeeded();
        JsonNode rows = new ObjectMapper().readTree(json.toFile()).path("sessions");
        assertThat(rows.findValuesAsText("stopped readers")).containsExactly("0", "1");
        assertThat(rows.path(1).path("slowest").path("median").asDouble()).isPositive();
    }

    private void assertAllFinish(int sessions, int stoppedReaders) throws Exception {
        Shards shards = Shards.launch(sandbox, "crowd", 1, MODEL_BYTES, UnaryOperator.identity());
        try (BenchShard shard = BenchShard.running(ModelAddress.parse(shards.address()))) {
            assertThat(ManySessions.run(shard, sessions, stoppedReaders, REQUEST_BYTES, REQUESTS, BOUND_NS))
                .hasSize(sessions).extracting(Measured::requests)
                .containsOnly((long) REQUESTS);
        }
    }
}
