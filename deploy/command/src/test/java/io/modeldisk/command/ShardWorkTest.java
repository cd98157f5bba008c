package io.modeldisk.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class ShardWorkTest {
    private final ManualClock clock = new ManualClock();
    private ParameterServer server;
    private final ShardWork work = new ShardWork(() -> server, clock);

    private static ParameterServer launch() throws IOException {
        return ParameterServer.launch(
            new ServerContext().consistency("asp").model("m").sizeBytes(1 << 20)
                .aggregator("sum", Aggregators.parse("sum")).learners(2)
                .listen(new InetSocketAddress("127.0.0.1", 0)));
    }

    private void assertStartIsBounded() throws IOException {
        assertThat(work.check()).isEqualTo("starts again");
        clock.advance(ShardWork.START);
        assertThat(work.check()).isEqualTo("starts again");
        clock.advance(Duration.ofSeconds(1));
        assertThatThrownBy(work::check).isInstanceOf(IOException.class)
            .hasMessageContaining("has tried to start again for more");
    }

    @Test
    void startThatHangsIsReportedAfterTheTimeLimit() throws IOException {
        assertStartIsBounded();
    }

    @Test
    void closedServerIsReportedAfterTheTimeLimit() throws IOException {
        server = launch();
        assertThat(work.check()).isEqualTo("version 0, round 0, 0 learners");
        server.close();
        assertStartIsBounded();
    }

    @Test
    void timeLimitBeginsAgainWithEachStart() throws IOException {
        assertThat(work.check()).isEqualTo("starts again");
        clock.advance(ShardWork.START);
        try (ParameterServer first = launch()) {
            server = first;
            assertThat(work.check()).startsWith("version 0");
        }
        assertStartIsBounded();
    }
}
