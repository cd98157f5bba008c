package io.modeldisk.striping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a transfer between memory and a shard in the same process. */
@Timeout(60)
class StripedTransferTest {
    private static final int BLOCK = 16384;
    private static final int BLOCKS = 8;
    private static final long MINUTE_NS = 60_000_000_000L;

    /** Provides a session for some parts, and then throws a RuntimeException like a datamover that cannot use the memory. */
    private static final class FailingSessions implements StripedTransfer.Sessions {
        private final IscsiSession session;
        private int left;

        FailingSessions(IscsiSession session, int parts) {
            this.session = session;
            this.left = parts;
        }

        @Override
        public IscsiSession session(int shard, Direction direction) {
            if (left-- == 0) {
                throw new IllegalArgumentException("the session cannot use this memory");
            }
            return session;
        }

        @Override
        public void flush() {
            session.flush();
        }

        @Override
        public ShardId id(int shard) {
            return session.shard();
        }
    }

    @Test
    void runtimeExceptionInATransferLeavesNoCommandInFlight() throws IOException {
        try (FakeShards shards = FakeShards.of(BLOCKS * BLOCK, BLOCK, 1);
            DataMemory memory = DataMemory.allocate(BLOCKS * BLOCK);
            IscsiSession session = IscsiSession.login(
                new SessionContext().portal(shards.address().shards().getFirst())
                    .targetName(shards.shards.getFirst().name())
                    .initiator("iqn.test:initiator", 1).shard(0))) {
            // Clears the unit attention of the login, which would make the read fail.
            UnitReadiness.await(session, Direction.RAW_LUN);
            shards.shards.getFirst().parking = true;
            StripedTransfer transfer = new StripedTransfer(ValueType.FLOAT32, new Striping(BLOCK, 1, BLOCK),
                new Striping(BLOCK, 1, BLOCK), 32,
                new FailingSessions(session, 1),
                new StripedTransfer.Timeouts(MINUTE_NS, MINUTE_NS, MINUTE_NS), NanoClock.SYSTEM,
                new Arrivals(NanoClock.SYSTEM, 1), ended -> {});
            assertThatThrownBy(
                () -> transfer.start(Direction.READ, 0, memory, 0, BLOCKS * BLOCK, Cancellation.NONE, null, null))
                .isInstanceOf(IllegalArgumentException.class).hasMessage("the session cannot use this memory");
            assertThat(transfer.isIdle()).isTrue();
        }
    }
}
