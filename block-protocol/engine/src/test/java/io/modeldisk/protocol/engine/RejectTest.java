package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.NONE;
import static io.modeldisk.protocol.engine.RawInitiator.NO_DATA;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.End;
import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.pdu.Opcode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of PDUs that the target rejects, with the reasons. The session continues (RFC 7143 sections 7.3 and 11.17). */
class RejectTest extends ServedTarget {

    private static final int SNACK_REJECT = 0x03;
    private static final int PROTOCOL_ERROR = 0x04;
    private static final int COMMAND_NOT_SUPPORTED = 0x05;
    private static final int TASK_IN_PROGRESS = 0x07;
    private static final int INVALID_PDU_FIELD = 0x09;
    private static final int LONG_OPERATION = 0x0A;

    /** Sends a PDU that the target must reject. The next command uses the CmdSN of the rejected PDU again. */
    private void assertRejected(int reason, ByteBuffer header, byte[] data) throws IOException {
        raw.send(header, data);
        assertReject(raw.receive(), reason, header);
        raw.cmdSn = (header.get(0) & 0x40) == 0 && header.getInt(24) != 0 ? header.getInt(24) : raw.cmdSn;
        assertThat(raw.testUnitReady().status()).as("status of the next command").isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0x07, 0x0F, 0x11, 0x1C, 0x1D, 0x1F, 0x20, 0x25, 0x31, 0x3F})
    void pduWithAnUnsupportedOpcodeIsRejected(int opcode) throws IOException {
        assertRejected(COMMAND_NOT_SUPPORTED, RawInitiator.header(opcode, 0x80).putInt(16, 77), new byte[33]);
    }

    @Test
    void onlyAFewOfManyRejectedPdusAreLogged() throws IOException {
        try (LogLines log = new LogLines(FullFeaturePhase.class)) {
            for (int i = 0; i < 100; i++) {
                ByteBuffer header = RawInitiator.header(0x07, 0x80).putInt(16, i);
                raw.send(header, EMPTY);
                assertReject(raw.receive(), COMMAND_NOT_SUPPORTED, header);
            }
            assertThat(log.lines()).hasSize(7).last().asString().contains("so far: 64");
        }
        assertThat(raw.testUnitReady().status()).isZero();
    }

    @Test
    void snackIsRejectedAtErrorRecoveryLevelZero() throws IOException {
        assertRejected(SNACK_REJECT, RawInitiator.header(0x10, 0x81).putInt(16, NONE).putInt(20, NONE), EMPTY);
    }

    @Test
    void pingResponseIsRejectedIfTheTargetSentNoPing() throws IOException {
        assertRejected(INVALID_PDU_FIELD, raw.request(0x40, 0x80, NONE).putInt(20, 0x1234), EMPTY);
    }

    @Test
    void rejectedPingWithAnUnknownTransferTagDoesNotAdvanceExpCmdSn() throws IOException {
        assertRejected(INVALID_PDU_FIELD, raw.request(0x00, 0x80, 7).putInt(20, 0x1234), EMPTY);
    }

    @Test
    void pingWithoutATaskTagGetsNoResponse() throws IOException {
        raw.send(raw.request(0x40, 0x80, NONE).putInt(20, NONE), EMPTY);
        assertThat(raw.testUnitReady().status()).isZero();
    }

    @Test
    void commandWithTheReservedTaskTagIsRejected() throws IOException {
        assertRejected(INVALID_PDU_FIELD, raw.request(0x01, NO_DATA | 1, NONE), EMPTY);
    }

    @Test
    void commandWithTheTagOfATaskInFlightIsRejected() throws IOException {
        byte[] data = random(BLOCK, 1);
        int tag = raw.command(WRITE, RawInitiator.write(0, 1), BLOCK, EMPTY);
        Reply r2t = raw.receive();
        ByteBuffer again = raw.request(0x01, WRITE | 1, tag).putInt(20, BLOCK).put(32, RawInitiator.write(5, 1));
        assertRejected(TASK_IN_PROGRESS, again, new byte[BLOCK]);
        raw.dataOut(tag, r2t.targetTransferTag(), 0, 0, data, true);
        assertThat(raw.end(tag).status()).isZero();
        assertThat(serving.contents(0, BLOCK)).isEqualTo(data);
    }

    @Test
    void taskTagCanBeReusedAfterTheStatusOfItsTask() throws IOException {
        for (int i = 0; i < 500; i++) {
            raw.send(raw.request(0x01, READ | 1, 5).putInt(20, BLOCK).put(32, RawInitiator.read(0, 1)), EMPTY);
            assertThat(raw.end(5).status()).isZero();
        }
    }

    @Test
    void bidirectionalCommandFailsWithInvalidOperationCode() throws IOException {
        End end = raw.run(READ | WRITE, RawInitiator.read(0, 1), BLOCK, EMPTY);
        assertThat(end.senseCode()).as("sense code").isEqualTo(SenseCodes.INVALID_OPCODE);
    }

    @Test
    void commandWithAVariableLengthCdbFailsWithInvalidOperationCode() throws IOException {
        ByteBuffer header = raw.request(0x01, NO_DATA | 1, 9).put(4, (byte) 5).put(32, RawInitiator.cdb(0x7F));
        byte[] additional = ByteBuffer.allocate(20).putShort((short) 17).put((byte) 1).array();
        raw.sendBytes(ByteBuffer.allocate(68).put(header.array()).put(additional).array());
        assertThat(raw.end(9).senseCode()).isEqualTo(SenseCodes.INVALID_OPCODE);
    }

    @Test
    void pduWithAProtocolErrorIsRejectedBeforeTheConnectionIsClosed() throws IOException {
        raw.cmdSn++;
        ByteBuffer header = raw.request(0x01, NO_DATA | 1, 9);
        raw.send(header, EMPTY);
        assertReject(raw.receive(), PROTOCOL_ERROR, header);
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    @Test
    void dataSegmentAboveTheNegotiatedLengthIsRejected() throws IOException {
        ByteBuffer header = raw.request(0x40, 0x80, 9).putInt(20, NONE).putInt(4, (1 << 20) + 1);
        raw.sendBytes(header.array());
        assertReject(raw.receive(), PROTOCOL_ERROR, header);
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    @Test
    void taskManagementInADiscoverySessionIsRejected() throws IOException {
        try (RawInitiator finder = new RawInitiator(serving.server.localAddress())) {
            finder.login(1, 3, "InitiatorName=iqn.test:finder", "SessionType=Discovery");
            ByteBuffer reset = finder.request(0x42, 0x86, 5);
            finder.send(reset, EMPTY);
            assertReject(finder.receive(), PROTOCOL_ERROR, reset);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0", "0, 77, 0", "1, 0, 0", "1, 77, 1", "2, 0, 2"})
    void logoutResponseDependsOnTheLogoutReason(int reason, int cid, int response) throws IOException {
        raw.send(raw.request(0x46, 0x80 | reason, 5).putShort(20, (short) cid), EMPTY);
        Reply reply = raw.receive();
        assertThat(reply.opcode()).isEqualTo(Opcode.LOGOUT_RESPONSE);
        assertThat(reply.u8(2)).isEqualTo(response);
        if (response == 0) {
            assertThat(raw.isClosedByTarget()).isTrue();
        } else {
            assertThat(raw.testUnitReady().status()).isZero();
        }
    }

    @Test
    void logoutWithAnUnknownReasonIsRejected() throws IOException {
        assertRejected(INVALID_PDU_FIELD, raw.request(0x46, 0x80 | 3, 5), EMPTY);
    }

    @Test
    void abortOfACommandThatNeverArrivedSkipsItsCmdSn() throws IOException {
        int lost = raw.cmdSn++;
        raw.send(raw.request(0x42, 0x81, 50).putInt(20, 999).putInt(32, lost), EMPTY);
        Reply reply = raw.receive();
        assertThat(reply.u8(2)).as("response code for a completed function").isZero();
        assertThat(reply.expCmdSn()).as("ExpCmdSN").isEqualTo(lost + 1);
        assertThat(raw.testUnitReady().status()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1, 1000})
    void abortWithAnInvalidRefCmdSnFindsNoTask(int ahead) throws IOException {
        raw.send(raw.request(0x42, 0x81, 50).putInt(20, 999).putInt(32, raw.cmdSn + ahead), EMPTY);
        assertThat(raw.receive().u8(2)).as("response code for a missing task").isEqualTo(1);
        assertThat(raw.testUnitReady().status()).isZero();
    }

    private Reply text(int flags, int transferTag, byte[] data) throws IOException {
        raw.send(raw.request(0x04, flags, 60).putInt(20, transferTag), data);
        return raw.receive();
    }

    @Test
    void textRequestCanContinueOverSeveralPdus() throws IOException {
        byte[] whole = RawInitiator.text("X-colour=blue", "SendTargets=");
        Reply first = text(0x40, NONE, Arrays.copyOf(whole, 9));
        assertThat(first.opcode()).isEqualTo(Opcode.TEXT_RESPONSE);
        assertThat(first.data()).isEmpty();
        assertThat(first.flags()).as("flags of a response that is neither final nor continued").isZero();
        Reply second = text(0x80, first.targetTransferTag(), Arrays.copyOfRange(whole, 9, whole.length));
        assertThat(second.flags()).isEqualTo(0x80);
        assertThat(second.targetTransferTag()).isEqualTo(NONE);
        assertThat(second.text()).containsEntry("X-colour", "NotUnderstood").containsEntry("TargetName",
            MemoryTarget.NAME);
    }

    @Test
    void longTextResponseIsSplitIntoPartsThatTheInitiatorAccepts() throws IOException {
        String[] keys = new String[100];
        Arrays.setAll(keys, i -> "X-key-with-a-long-name-" + i + "=1");
        try (RawInitiator small = serving.loginAs("iqn.test:small", "MaxRecvDataSegmentLength=512")) {
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            small.send(small.request(0x04, 0x80, 60).putInt(20, NONE), RawInitiator.text(keys));
            Reply reply = small.receive();
            answer.writeBytes(reply.data());
            while ((reply.flags() & 0x80) == 0) {
                assertThat(reply.flags()).as("flags of a continued response").isEqualTo(0x40);
                assertThat(reply.data()).hasSize(512);
                small.send(small.request(0x04, 0x80, 60).putInt(20, reply.targetTransferTag()), EMPTY);
                reply = small.receive();
                answer.writeBytes(reply.data());
            }
            assertThat(answer.toString(StandardCharsets.UTF_8).split("\0")).hasSize(100)
                .allMatch(pair -> pair.endsWith("=NotUnderstood"));
        }
    }

    @Test
    void textRequestForACompletedExchangeIsRejected() throws IOException {
        Reply first = text(0x40, NONE, new byte[0]);
        text(0x80, first.targetTransferTag(), RawInitiator.text("SendTargets="));
        assertRejected(INVALID_PDU_FIELD, raw.request(0x04, 0x80, 60).putInt(20, first.targetTransferTag()), EMPTY);
    }

    @Test
    void textRequestThatIsBothFinalAndContinuedIsRejected() throws IOException {
        assertRejected(INVALID_PDU_FIELD, raw.request(0x04, 0xC0, 60).putInt(20, NONE), EMPTY);
    }

    @Test
    void malformedTextRequestIsRejectedAsAProtocolError() throws IOException {
        assertRejected(PROTOCOL_ERROR, raw.request(0x04, 0x80, 60).putInt(20, NONE), new byte[]{'a', 'b', 0});
    }

    @Test
    void textRequestAboveTheSizeLimitIsRejectedAsALongOperation() throws IOException {
        byte[] part = new byte[8192];
        Arrays.fill(part, (byte) 'x');
        Reply reply = text(0x40, NONE, part);
        for (int i = 0; i < 7; i++) {
            reply = text(0x40, reply.targetTransferTag(), part);
        }
        assertRejected(LONG_OPERATION, raw.request(0x04, 0x40, 60).putInt(20, reply.targetTransferTag()), part);
    }

    @Test
    void commandWithAnInvalidExpStatSnCompletes() throws IOException {
        for (int nonsense : new int[]{0, -1, Integer.MIN_VALUE, 0x7FFFFFFF}) {
            raw.expStatSn = nonsense;
            assertThat(raw.testUnitReady().status()).isZero();
        }
    }
}
