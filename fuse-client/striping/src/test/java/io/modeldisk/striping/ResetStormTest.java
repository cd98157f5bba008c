package io.modeldisk.striping;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.RawInitiator;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.TaskManagementRequestPdu;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that no call of a learner fails while another initiator resets LUN 0 without a pause. */
@Timeout(60)
class ResetStormTest {
    private static final int BLOCK = 1 << 16;
    private static final int SIZE = 8 * BLOCK;
    private static final int ITERATIONS = 50;

    private final AtomicInteger resets = new AtomicInteger();
    private final DataMemory memory = DataMemory.allocate(SIZE);
    private FakeShards shards;
    private volatile boolean stopped;
    private CompletableFuture<Void> storm;

    @BeforeEach
    void begin() throws IOException {
        shards = FakeShards.of(SIZE, BLOCK, 1);
        storm = CompletableFuture.runAsync(this::resetAgainAndAgain);
        await("the resets have begun", () -> resets.get() > 0);
    }

    @AfterEach
    void end() {
        stopped = true;
        storm.join();
        shards.close();
        memory.close();
    }

    private void resetAgainAndAgain() {
        try (RawInitiator other = new RawInitiator(shards.servers.getFirst().localAddress())) {
            other.login(1, 3, "InitiatorName=iqn.test:other",
                "TargetName=" + ModelFacts.TARGET_PREFIX + FakeShards.MODEL);
            while (!stopped) {
                other.manage(TaskManagementRequestPdu.LOGICAL_UNIT_RESET, RawInitiator.NONE);
                resets.incrementAndGet();
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void everyCallSucceedsWhileAnotherInitiatorResetsTheUnit() throws IOException {
        for (int i = 0; i < ITERATIONS; i++) {
            try (StripedModel model = StripedModel
                .connect(new StripedModelContext(shards.address()).learner("tester"))) {
                model.join();
                model.push(0, memory, 0, SIZE, Cancellation.NONE);
                model.synchronize(Cancellation.NONE);
                model.pull(0, memory, 0, SIZE, Cancellation.NONE);
                model.read(0, memory, 0, SIZE, Cancellation.NONE);
            }
        }
        assertThat(storm).isNotDone();
    }
}
