package io.modeldisk.mount.fuse.kernel;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class LaneTest {
    private static final int REQUEST_BYTES = 200;
    private static final int LIMIT = 2;

    private final Arena arena = Arena.ofShared();
    private final DataMemory memory = DataMemory.allocate(DataRequest.MEMORY_BYTES);
    private final RequestSlot slot = new RequestSlot(arena, memory, 0);
    private final Lane lane = new Lane("data", LIMIT, 3L * REQUEST_BYTES, () -> {});

    @AfterEach
    void free() {
        memory.close();
        arena.close();
    }

    private static ParkedRequest request(long unique) {
        ByteBuffer bytes = ByteBuffer.allocate(REQUEST_BYTES).order(ByteOrder.nativeOrder());
        bytes.putInt(REQUEST_BYTES).putInt(Opcode.WRITE).putLong(unique).put(REQUEST_BYTES - 1, (byte) unique);
        return new ParkedRequest(0, unique, 100 + unique, bytes.array());
    }

    private boolean enter(long unique) {
        slot.load(request(unique));
        return lane.enter(slot);
    }

    private void fill() {
        for (int i = 1; i <= LIMIT; i++) {
            assertThat(enter(i)).isTrue();
        }
    }

    @Test
    void laneServesParkedRequestsInOrderOfArrival() {
        fill();
        assertThat(enter(11)).isFalse();
        assertThat(enter(12)).isFalse();
        assertThat(lane.next(slot)).isFalse();
        lane.leave();
        assertThat(lane.next(slot)).isTrue();
        assertThat(slot.request().unique()).isEqualTo(11);
        assertThat(slot.arrivedNs()).isEqualTo(111);
        assertThat(slot.copy().bytes()).isEqualTo(request(11).bytes());
        assertThat(lane.next(slot)).isFalse();
        lane.leave();
        assertThat(lane.next(slot)).isTrue();
        assertThat(slot.request().unique()).isEqualTo(12);
    }

    @Test
    void laneDoesNotServeARemovedRequest() {
        fill();
        assertThat(enter(11)).isFalse();
        assertThat(lane.remove(12)).isNull();
        assertThat(lane.remove(11).unique()).isEqualTo(11);
        lane.leave();
        assertThat(lane.next(slot)).isFalse();
        assertThat(enter(13)).isTrue();
    }

    @Test
    void readingThreadWaitsWhenParkedRequestsReachTheMemoryLimit() throws InterruptedException {
        fill();
        for (int i = 11; i <= 13; i++) {
            assertThat(enter(i)).isFalse();
        }
        try (Arena second = Arena.ofShared(); DataMemory itsMemory = DataMemory.allocate(DataRequest.MEMORY_BYTES)) {
            RequestSlot other = new RequestSlot(second, itsMemory, 0);
            other.load(request(14));
            Thread reader = Thread.ofPlatform().start(() -> lane.enter(other));
            await("the reader waits", () -> reader.getState() == Thread.State.WAITING);
            lane.leave();
            assertThat(lane.next(slot)).isTrue();
            reader.join();
            assertThat(lane.remove(14)).isNotNull();
        }
    }
}
