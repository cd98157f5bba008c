package io.modeldisk.protocol.initiator;

import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.engine.MemoryTarget;
import io.modeldisk.protocol.engine.Serving;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests sessions with digests (RFC 7143 sections 7.8 and 13.1). */
@Timeout(60)
class InitiatorDigestTest {
    private static final long SECOND = 1_000_000_000;
    private static final int MIB = 1 << 20;

    @AutoClose
    private final DataMemory memory = DataMemory.allocate(8 * MIB);
    private final BlockingQueue<String> ends = new ArrayBlockingQueue<>(10);

    private static SessionContext context(Digest header, Digest data) {
        return new SessionContext().targetName(MemoryTarget.NAME).initiator("iqn.test:initiator", 1)
            .digests(header, data);
    }

    private String run(IscsiSession session, IoRequest request) throws Exception {
        session.submit(request.onCompletion(done -> ends.add(done.describeEnd())));
        return ends.poll(10, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @CsvSource({"CRC32C, NONE", "NONE, CRC32C", "CRC32C, CRC32C"})
    void readReturnsTheWrittenDataWithDigests(Digest header, Digest data) throws Exception {
        byte[] bytes = random(3 * MIB, 1);
        MemorySegment.copy(bytes, 0, memory.slab(0), ValueLayout.JAVA_BYTE, 0, bytes.length);
        try (Serving serving = new Serving();
            IscsiSession session = IscsiSession.login(context(header, data).portal(serving.server.localAddress()))) {
            UnitReadiness.await(session, 0);
            assertThat(run(session, session.acquire(SECOND).write(0, 5, 768, memory, 0, bytes.length)))
                .isEqualTo("GOOD");
            assertThat(serving.contents(5 * 4096, bytes.length)).isEqualTo(bytes);
            assertThat(run(session, session.acquire(SECOND).read(0, 5, 768, memory, 4 * MIB, bytes.length)))
                .isEqualTo("GOOD");
            assertThat(memory.segment(4 * MIB, bytes.length).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"HeaderDigest=None", "HeaderDigest=Reject", "InitialR2T=No"})
    void loginFailsWhenTheTargetDoesNotAgreeToTheDigest(String answer) throws Exception {
        try (ScriptedTarget target = new ScriptedTarget()) {
            Future<IscsiSession> login = target.logIn(context(Digest.CRC32C, Digest.NONE), answer);
            assertThatThrownBy(() -> login.get(10, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class)
                .hasMessageContaining("HeaderDigest=").hasMessageContaining("CRC32C");
        }
    }

    @Test
    void loginFailsWhenTheTargetSelectsADigestThatWasNotOffered() throws Exception {
        try (ScriptedTarget target = new ScriptedTarget()) {
            Future<IscsiSession> login = target.logIn(context(Digest.NONE, Digest.NONE), "DataDigest=CRC32C");
            assertThatThrownBy(() -> login.get(10, TimeUnit.SECONDS))
                .hasMessageContaining("DataDigest=CRC32C; the initiator offered None");
        }
    }

    @ParameterizedTest
    @CsvSource({"30, header", "60, data"})
    void damagedPduClosesTheSessionWithADigestError(int damagedByte, String part) throws Exception {
        try (ScriptedTarget target = new ScriptedTarget()) {
            Future<IscsiSession> login = target.logIn(context(Digest.CRC32C, Digest.CRC32C), "HeaderDigest=CRC32C",
                "DataDigest=CRC32C", "MaxRecvDataSegmentLength=8192");
            try (IscsiSession session = login.get(10, TimeUnit.SECONDS)) {
                session.submit(session.acquire(SECOND).read(0, 0, 1, memory, 0, 4096)
                    .onCompletion(done -> ends.add(done.describeEnd())));
                ByteBuffer command = target.receive();
                byte[] data = new byte[4096];
                Arrays.fill(data, (byte) 7);
                byte[] pdu = target.encode(ScriptedTarget.pdu(0x25, 0x81).putInt(16, command.getInt(16)), data);
                pdu[damagedByte] ^= 0x10;
                target.sendBytes(pdu);
                assertThat(ends.poll(10, TimeUnit.SECONDS)).contains(part).contains("does not match its digest");
                assertThat(session.isOpen()).isFalse();
            }
        }
    }
}
