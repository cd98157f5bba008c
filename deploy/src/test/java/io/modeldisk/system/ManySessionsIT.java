package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.bench.report.SessionsReport;
import io.modeldisk.bench.sessions.SessionsBench;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.protocol.striping.ModelAddress;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** 256 learners on one shard with the memory that a shard has by default. */
final class ManySessionsIT {
    private static final int SESSIONS = 256;
    private static final int REQUEST_BYTES = 256 << 10;
    private static final double STARVED = 10;
    private static final long MODEL_BYTES = 64L << 20;

    @RegisterExtension
    final Sandbox sandbox = new Sandbox();

    @Test
    void nothingIsRefusedAndNobodyStarves() throws Exception {
        SessionsReport report = run(new SessionsBench.Plan(SESSIONS, 0, REQUEST_BYTES, 2, 8));

        assertThat(report.failures()).isEmpty();
        assertThat(report.busy()).isZero();
        assertThat(report.taskSetFull()).isZero();
        // `modeldisk bench sessions` shows 3 at most in a minute; a few seconds on a machine with other work scatter more.
        assertThat(report.unfairness()).isLessThan(STARVED);
    }

    /** More of them than there are spare blocks, so that each lets go of the blocks it does not read. */
    @Test
    void readersThatStopDelayNobody() throws Exception {
        SessionsReport report = run(new SessionsBench.Plan(8, 96, REQUEST_BYTES, 4, 4));

        assertThat(report.failures()).isEmpty();
        assertThat(report.busy()).isZero();
        assertThat(report.taskSetFull()).isZero();
        assertThat(report.movedBytes()).hasSize(8).allMatch(bytes -> bytes >= MODEL_BYTES / 8, "got their share");
    }

    private SessionsReport run(SessionsBench.Plan plan) throws Exception {
        Shards shards = Shards.launch(sandbox, "crowd", 1, MODEL_BYTES, UnaryOperator.identity());
        try (BenchShard shard = BenchShard.running(ModelAddress.parse(shards.address()))) {
            return SessionsBench.run(shard, plan);
        }
    }
}
