package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.bench.report.SessionsReport;
import io.modeldisk.bench.sessions.SessionsBench;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.protocol.striping.ModelAddress;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests one shard that has the default memory limits and 256 sessions. */
final class ManySessionsIT {
    private static final int SESSIONS = 256;
    private static final int REQUEST_BYTES = 256 << 10;
    private static final int REQUESTS = 32;
    private static final double BOUND_SECONDS = 60;
    private static final long MODEL_BYTES = 64L << 20;

    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    @Test
    void allSessionsFinishWithoutRefusedCommands() throws Exception {
        SessionsReport report = run(new SessionsBench.Plan(SESSIONS, 0, REQUEST_BYTES, 2, BOUND_SECONDS, REQUESTS));

        assertAllFinished(report, SESSIONS);
    }

    /** 96 sessions request data and do not read it. The shard does not have enough buffers for all 96 sessions. */
    @Test
    void sessionsThatDoNotReadDoNotDelayOtherSessions() throws Exception {
        SessionsReport report = run(new SessionsBench.Plan(8, 96, REQUEST_BYTES, 4, BOUND_SECONDS, REQUESTS));

        assertAllFinished(report, 8);
    }

    @Test
    void sessionsBenchStartsAShardThatAcceptsAllItsSessions() throws Exception {
        assertThat(sandbox.run(Sandbox.modeldisk("bench", "sessions", "--sessions", "4", "--stopped-readers", "300",
            "--duration", "1", "--model-size", "8m")).succeeded()).contains("beside 300 sessions that read nothing",
                "refused: 0 BUSY, 0 TASK SET FULL; failed sessions: none");
    }

    private static void assertAllFinished(SessionsReport report, int sessions) {
        assertThat(report.failures()).isEmpty();
        assertThat(report.busy()).isZero();
        assertThat(report.taskSetFull()).isZero();
        assertThat(report.movedBytes()).hasSize(sessions).containsOnly((long) REQUESTS * REQUEST_BYTES);
    }

    private SessionsReport run(SessionsBench.Plan plan) throws Exception {
        Shards shards = Shards.launch(sandbox, "crowd", 1, MODEL_BYTES, UnaryOperator.identity());
        try (BenchShard shard = BenchShard.running(ModelAddress.parse(shards.address()))) {
            return SessionsBench.run(shard, plan);
        }
    }
}
