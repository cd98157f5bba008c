package io.modeldisk.striping;

import io.modeldisk.protocol.memory.DataMemory;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;

/** The base class of tests that open shards in this process, and a model that is connected to them. */
abstract class ShardsFixture {
    static final int BLOCK = 16384;
    static final int MIB = 1 << 20;

    final DataMemory memory = DataMemory.allocate(8 * MIB);
    FakeShards shards;
    StripedModel model;

    @AfterEach
    void end() {
        if (model != null) {
            model.close();
        }
        if (shards != null) {
            shards.close();
        }
        memory.close();
    }

    static StripedModelContext context(ModelAddress address) {
        return new StripedModelContext(address).learner("tester")
            .sessions(session -> session.commandTimeout(Duration.ofSeconds(5)))
            .reconnectTimeout(Duration.ofMillis(500));
    }
}
