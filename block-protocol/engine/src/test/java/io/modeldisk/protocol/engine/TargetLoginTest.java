package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.pdu.Opcode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the responses of a target in the login phase (RFC 7143 sections 6 and 13). */
class TargetLoginTest extends ServedTarget {
    private static final String INITIATOR = "InitiatorName=iqn.test:raw";
    private static final String TARGET = "TargetName=" + MemoryTarget.NAME;

    @Override
    @BeforeEach
    void serve() throws IOException {
        serving = new Serving();
        raw = new RawInitiator(serving.server.localAddress());
    }

    @Test
    void loginContinuesAfterAnUnknownKey() throws IOException {
        Reply reply = raw.login(1, 3, INITIATOR, TARGET, "X-com.example.colour=blue");
        assertThat(reply.loginStatus()).isZero();
        assertThat(reply.text()).containsEntry("X-com.example.colour", "NotUnderstood");
    }

    @Test
    void loginInOneExchangeEntersFullFeaturePhase() throws IOException {
        Reply reply = raw.login(1, 3, INITIATOR, TARGET);
        assertThat(reply.flags()).isEqualTo(0x87);
        assertThat(reply.header().getShort(14)).as("TSIH").isNotZero();
    }

    @Test
    void firstLoginResponseContainsThePortalGroupTag() throws IOException {
        assertThat(raw.login(1, 3, INITIATOR, TARGET).text()).containsEntry("TargetPortalGroupTag", "1");
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
        0x0203, InitiatorName=iqn.test:raw, TargetName=iqn.2026-11.io.modeldisk:other, X-a=b
        0x0207, TargetName=iqn.2026-11.io.modeldisk:memory, SessionType=Normal, X-a=b
        0x0207, InitiatorName=iqn.test:raw, SessionType=Normal, X-a=b
        0x0209, InitiatorName=iqn.test:raw, TargetName=iqn.2026-11.io.modeldisk:memory, SessionType=Copy
        0x0201, InitiatorName=iqn.test:raw, TargetName=iqn.2026-11.io.modeldisk:memory, AuthMethod=CHAP
        0x0200, InitiatorName=iqn.test:raw, TargetName=iqn.2026-11.io.modeldisk:memory, nothing
        0x0200, InitiatorName=iqn.test:raw, TargetName=iqn.2026-11.io.modeldisk:memory, =value
        0x0200, InitiatorName=iqn.test:raw, TargetName=iqn.2026-11.io.modeldisk:memory, a b=value
        0x0200, InitiatorName=raw, TargetName=iqn.2026-11.io.modeldisk:memory, X-a=b
        0x0200, InitiatorName=iqn.test:raw, TargetName=iqn.2026-11.io.modeldisk:memory, InitiatorName=iqn.test:raw
        """)
    void invalidLoginKeyIsRefusedWithItsLoginStatus(int status, String first, String second, String third)
        throws IOException {
        assertThat(raw.login(0, 1, first, second, third).loginStatus()).isEqualTo(status);
    }

    @Test
    void loginWithAVersionAboveZeroIsRefused() throws IOException {
        raw.send(raw.loginHeader(1, 3).put(2, (byte) 2).put(3, (byte) 1), RawInitiator.text(INITIATOR, TARGET));
        assertThat(raw.receive().loginStatus()).isEqualTo(0x0205);
    }

    @Test
    void loginThatNegotiatesAKeyTwiceIsRefused() throws IOException {
        raw.login(1, -1, INITIATOR, TARGET, "MaxBurstLength=65536");
        assertThat(raw.login(1, 3, "MaxBurstLength=65536").loginStatus()).isEqualTo(0x0200);
    }

    @Test
    void initiatorNameCanBeRepeatedButNotChangedInALogin() throws IOException {
        raw.login(0, 1, INITIATOR, TARGET);
        assertThat(raw.login(1, -1, INITIATOR).loginStatus()).isZero();
        assertThat(raw.login(1, 3, "InitiatorName=iqn.test:other").loginStatus()).isEqualTo(0x0200);
    }

    @Test
    void secondConnectionOfASessionIsRefused() throws IOException {
        int tsih = raw.login(1, 3, INITIATOR, TARGET).header().getShort(14);
        try (RawInitiator second = new RawInitiator(serving.server.localAddress())) {
            second.send(second.loginHeader(1, 3).putShort(14, (short) tsih).putShort(20, (short) 1),
                RawInitiator.text(INITIATOR, TARGET));
            assertThat(second.receive().loginStatus()).isEqualTo(0x0206);
        }
        assertThat(raw.ping(RawInitiator.EMPTY).opcode()).isEqualTo(Opcode.NOP_IN);
    }

    @Test
    void connectionWithTheSameCidReplacesTheOldConnection() throws IOException {
        int tsih = raw.login(1, 3, INITIATOR, TARGET).header().getShort(14);
        try (RawInitiator again = new RawInitiator(serving.server.localAddress())) {
            again.send(again.loginHeader(1, 3).putShort(14, (short) tsih), RawInitiator.text(INITIATOR, TARGET));
            Reply reply = again.receive();
            assertThat(reply.loginStatus()).isZero();
            assertThat(reply.header().getShort(14)).isEqualTo((short) tsih);
            assertThat(raw.isClosedByTarget()).isTrue();
        }
    }

    @Test
    void concurrentLoginsOfOneNexusLeaveOneSession() throws Exception {
        List<CompletableFuture<Boolean>> logins = new ArrayList<>();
        List<RawInitiator> initiators = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            RawInitiator initiator = new RawInitiator(serving.server.localAddress());
            initiators.add(initiator);
            logins.add(CompletableFuture.supplyAsync(() -> {
                try {
                    return initiator.login(1, 3, INITIATOR, TARGET).loginStatus() == 0;
                } catch (IOException e) {
                    return false;
                }
            }));
        }
        for (CompletableFuture<Boolean> login : logins) {
            login.get(30, TimeUnit.SECONDS);
        }
        await("one connection of the nexus is left", () -> serving.server.connectionCount() == 2);
        for (RawInitiator initiator : initiators) {
            initiator.close();
        }
        await("no connection of the nexus is left", () -> serving.server.connectionCount() == 1);
        // The nexus never has two sessions at a time: each session is established after the previous session is lost.
        for (int i = 0; i < serving.target.nexusEvents.size(); i++) {
            assertThat(serving.target.nexusEvents.get(i)).startsWith(i % 2 == 0 ? "established" : "lost");
        }
    }

    @Test
    void loginWithAnUnknownTsihIsRefused() throws IOException {
        raw.send(raw.loginHeader(1, 3).putShort(14, (short) 77), RawInitiator.text(INITIATOR, TARGET));
        assertThat(raw.receive().loginStatus()).isEqualTo(0x020A);
    }

    @Test
    void loginTextAboveTheSizeLimitIsRefused() throws IOException {
        byte[] part = RawInitiator.text("X-a=" + "y".repeat(8000));
        for (int i = 0; i < 8; i++) {
            raw.send(raw.loginHeader(1, -1).put(1, (byte) 0x44), part);
            assertThat(raw.receive().loginStatus()).isZero();
        }
        raw.send(raw.loginHeader(1, -1).put(1, (byte) 0x44), part);
        assertThat(raw.receive().loginStatus()).isEqualTo(0x0200);
    }

    @Test
    void loginTextCanBeSplitInTheMiddleOfAKey() throws IOException {
        byte[] whole = RawInitiator.text(INITIATOR, TARGET, "X-a=b");
        ByteBuffer first = raw.loginHeader(1, -1).put(1, (byte) 0x44);
        raw.send(first, Arrays.copyOf(whole, 20));
        Reply empty = raw.receive();
        raw.send(raw.loginHeader(1, 3), Arrays.copyOfRange(whole, 20, whole.length));
        assertThat(empty.data()).isEmpty();
        assertThat(raw.receive().text()).containsEntry("X-a", "NotUnderstood");
    }

    @Test
    void securityStageWithoutAuthenticationLeadsToTheOperationalStage() throws IOException {
        Reply security = raw.login(0, 1, INITIATOR, TARGET, "AuthMethod=CHAP,None");
        assertThat(security.text()).containsEntry("AuthMethod", "None");
        assertThat(raw.login(1, 3, "MaxBurstLength=65536").text()).containsEntry("MaxBurstLength", "65536");
    }

    @Test
    void loginRequestForAnEarlierStageIsRefused() throws IOException {
        raw.login(0, 1, INITIATOR, TARGET);
        assertThat(raw.login(0, 1).loginStatus()).isEqualTo(0x020B);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
        InitialR2T, Yes, Yes
        InitialR2T, No, No
        InitialR2T, Perhaps, Reject
        ImmediateData, Yes, Yes
        ImmediateData, No, No
        ImmediateData, 1, Reject
        MaxBurstLength, 1048576, 1048576
        MaxBurstLength, 16777215, 4194304
        MaxBurstLength, 511, Reject
        MaxBurstLength, 16777216, Reject
        MaxBurstLength, many, Reject
        MaxBurstLength, 01000, Reject
        MaxBurstLength, #1000, Reject
        MaxBurstLength, +1000, Reject
        FirstBurstLength, 0x1000, 4096
        FirstBurstLength, 1048576, 262144
        FirstBurstLength, 0, Reject
        MaxOutstandingR2T, 8, 1
        MaxOutstandingR2T, 0, Reject
        MaxConnections, 4, 1
        MaxConnections, 65536, Reject
        ErrorRecoveryLevel, 2, 0
        ErrorRecoveryLevel, 3, Reject
        DefaultTime2Wait, 2, 2
        DefaultTime2Retain, 20, 0
        DefaultTime2Retain, 3601, Reject
        DataPDUInOrder, No, Yes
        DataSequenceInOrder, No, Yes
        HeaderDigest, 'CRC32C,None', CRC32C
        HeaderDigest, 'None,CRC32C', None
        HeaderDigest, 'X-crc64,CRC32C,None', CRC32C
        HeaderDigest, CRC32C, CRC32C
        HeaderDigest, 'crc32c,MD5', Reject
        DataDigest, CRC32C, CRC32C
        DataDigest, None, None
        DataDigest, 'CRC32C,None', CRC32C
        iSCSIProtocolLevel, 2, 1
        TaskReporting, 'FastAbort,RFC3720', RFC3720
        MaxRecvDataSegmentLength, 12, Reject
        """)
    void operationalKeyGetsItsNegotiatedValue(String key, String offered, String answer) throws IOException {
        Map<String, String> answers = raw.login(1, -1, INITIATOR, TARGET, key + "=" + offered).text();
        answers.computeIfPresent("MaxRecvDataSegmentLength", (_, value) -> key.startsWith("MaxRecv") ? answer : value);
        assertThat(answers).containsEntry(key, answer);
    }

    @Test
    void targetDeclaresItsMaxRecvDataSegmentLengthOnce() throws IOException {
        Reply first = raw.login(1, -1, INITIATOR, TARGET);
        Reply second = raw.login(1, 3);
        assertThat(first.text()).containsKey("MaxRecvDataSegmentLength");
        assertThat(second.text()).doesNotContainKey("MaxRecvDataSegmentLength");
    }

    @Test
    void discoverySessionListsTheTarget() throws IOException {
        raw.login(1, 3, INITIATOR, "SessionType=Discovery");
        raw.send(raw.request(0x04, 0x80, 7).putInt(20, RawInitiator.NONE), RawInitiator.text("SendTargets=All"));
        assertThat(raw.receive().text()).containsEntry("TargetName", MemoryTarget.NAME)
            .containsEntry("TargetAddress", "127.0.0.1:" + serving.server.localAddress().getPort() + ",1");
    }

    @Test
    void scsiCommandInADiscoverySessionIsRejected() throws IOException {
        raw.login(1, 3, INITIATOR, "SessionType=Discovery");
        raw.command(RawInitiator.NO_DATA, RawInitiator.cdb(0), 0, RawInitiator.EMPTY);
        assertThat(raw.receive().opcode()).isEqualTo(Opcode.REJECT);
    }

    @Test
    void sendTargetsAllIsRefusedInANormalSession() throws IOException {
        raw.login(1, 3, INITIATOR, TARGET);
        raw.send(raw.request(0x04, 0x80, 7).putInt(20, RawInitiator.NONE), RawInitiator.text("SendTargets=All"));
        assertThat(raw.receive().text()).containsEntry("SendTargets", "Reject");
    }

    @Test
    void scsiCommandBeforeTheLoginClosesTheConnection() throws IOException {
        raw.command(RawInitiator.NO_DATA, RawInitiator.cdb(0), 0, RawInitiator.EMPTY);
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void connectionWithoutACompleteLoginIsClosedAfterTheLoginTimeout(boolean sendsALoginRequest) throws IOException {
        try (Serving hasty = new Serving(context -> context.loginTimeout(Duration.ofSeconds(1)));
            RawInitiator slow = new RawInitiator(hasty.server.localAddress())) {
            if (sendsALoginRequest) {
                slow.login(1, -1, INITIATOR, TARGET);
            }
            assertThat(slow.isClosedByTarget()).isTrue();
            hasty.awaitNothingLeft();
        }
    }

    @Test
    void learnerKeySetsTheLabelOfTheNexus() throws IOException {
        raw.login(1, 3, INITIATOR, TARGET, "X-io.modeldisk.learner=seven");
        raw.ping(RawInitiator.EMPTY);
        assertThat(serving.target.nexusEvents).containsExactly("established seven");
    }

    @Test
    void newSessionOfANexusReplacesTheOldSession() throws IOException {
        raw.login(1, 3, INITIATOR, TARGET);
        try (RawInitiator again = serving.login()) {
            again.ping(RawInitiator.EMPTY);
            assertThat(raw.isClosedByTarget()).isTrue();
            assertThat(serving.target.nexusEvents).containsExactly(
                "established iqn.test:raw", "lost iqn.test:raw", "established iqn.test:raw");
        }
    }
}
