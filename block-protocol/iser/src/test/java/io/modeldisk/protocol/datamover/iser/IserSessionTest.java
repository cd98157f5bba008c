package io.modeldisk.protocol.datamover.iser;

import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import io.modeldisk.protocol.engine.MemoryTarget;
import io.modeldisk.protocol.engine.Serving;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests complete sessions over iSER, with the initiator and the target in this process. */
@Tag("softroce")
class IserSessionTest extends IserFixture {
    private static final int UNUSED_PORT = 26_201;
    private static final int PIECES_TOGETHER = 4;

    private void fill(byte[] bytes) {
        MemorySegment.copy(bytes, 0, memory.slab(0), ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    private byte[] memoryBytes(long offset, int length) {
        return memory.segment(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 64, 65, 768})
    void readOverIserReturnsTheWrittenData(int blocks) throws Exception {
        byte[] bytes = random(blocks * Serving.BLOCK, blocks);
        fill(bytes);
        try (IscsiSession session = login(iser())) {
            assertThat(write(session, 5, blocks, 0)).isEqualTo("GOOD");
            assertThat(serving.contents(5L * Serving.BLOCK, bytes.length)).isEqualTo(bytes);
            assertThat(read(session, 5, blocks, 4 * MIB)).isEqualTo("GOOD");
            assertThat(memoryBytes(4 * MIB, bytes.length)).isEqualTo(bytes);
        }
    }

    @Test
    void severalPiecesOfALongReadAreInFlightAtTheSameTime() throws Exception {
        byte[] bytes = serving.fill(11);
        serving.target.unit.longestPinBytes = 256 << 10;
        int blocks = (3 * MIB + 256 * 1024) / Serving.BLOCK;
        try (IscsiSession session = login(iser())) {
            assertThat(read(session, 3, blocks, MIB)).isEqualTo("GOOD");
            assertThat(memoryBytes(MIB, blocks * Serving.BLOCK))
                .isEqualTo(Arrays.copyOfRange(bytes, 3 * Serving.BLOCK, (3 + blocks) * Serving.BLOCK));
            assertThat(serving.target.unit.mostPinned.get()).isEqualTo(PIECES_TOGETHER);
        }
        serving.awaitNothingLeft();
        assertThat(serving.target.unit.pinned()).isZero();
    }

    /**
     * The target receives the abort while its responder thread sends the data of the read. The target responds to the abort only
     * after the data is sent.
     */
    @Test
    void abortOfAReadCompletesAfterTheDataOfTheReadIsSent() throws Exception {
        serving.target.unit.longestPinBytes = 256 << 10;
        serving.target.unit.parking = true;
        try (IscsiSession session = login(iser())) {
            IoRequest read = session.acquire(PATIENCE_NS).read(0, 0, 256, memory, 0, MIB);
            int tag = read.initiatorTaskTag();
            session.submit(read.onCompletion(_ -> {}));
            await("the read is parked", () -> !serving.target.unit.parked.isEmpty());
            FutureTask<Void> aborted = new FutureTask<>(() -> {
                session.abort(read, tag);
                return null;
            });
            AtomicBoolean first = new AtomicBoolean(true);
            serving.target.unit.pinning = task -> {
                if (first.getAndSet(false)) {
                    Thread.ofPlatform().start(aborted);
                    await("the target has received the abort", () -> MemoryTarget.MemoryUnit.isAborted(task));
                }
            };
            serving.target.unit.parking = false;
            serving.target.unit.parked.removeFirst().resume();
            aborted.get(PATIENCE_NS, TimeUnit.NANOSECONDS);
            serving.target.unit.pinning = _ -> {};
            assertThat(session.isOpen()).isTrue();
            assertThat(read(session, 0, 1, 0)).isEqualTo("GOOD");
        }
        serving.awaitNothingLeft();
        assertThat(serving.target.unit.pinned()).isZero();
    }

    @Test
    void targetServesTcpAndIserAtTheSameAddress() throws Exception {
        byte[] bytes = random(256 * 1024, 7);
        fill(bytes);
        try (IscsiSession writer = login(new TcpInitiatorPortal(serving.server.localAddress()));
            IscsiSession reader = login(iser())) {
            assertThat(write(writer, 0, 64, 0)).isEqualTo("GOOD");
            assertThat(read(reader, 0, 64, MIB)).isEqualTo("GOOD");
            assertThat(memoryBytes(MIB, bytes.length)).isEqualTo(bytes);
        }
    }

    @Test
    void sessionStaysOpenAfterCommandsBeyondTheEndOfTheMediumFail() throws Exception {
        try (IscsiSession session = login(iser())) {
            assertThat(read(session, 1 << 20, 1, 0)).contains("CHECK CONDITION");
            assertThat(write(session, 1 << 20, 64, 0)).contains("CHECK CONDITION");
            assertThat(read(session, 0, 1, 0)).isEqualTo("GOOD");
        }
    }

    @Test
    void connectErrorNamesTheDatamoverOptionIfNoProcessListens() {
        InitiatorPortal way = new IserInitiatorPortal(connector, new InetSocketAddress(address, UNUSED_PORT));
        assertThatThrownBy(() -> login(way)).isInstanceOf(IOException.class)
            .hasMessageContaining("accepts no iSER connections").hasMessageContaining("--datamover iser");
    }
}
