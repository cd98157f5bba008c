package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.NONE;
import static io.modeldisk.protocol.engine.RawInitiator.NO_DATA;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE_MORE_FOLLOWS;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.End;
import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of header and data digests (RFC 7143 sections 7.8 and 13.1). The tests compute and check the digests with {@link Crc32c}.
 */
class DigestTest extends ServedTarget {
    private static final int DATA_DIGEST_ERROR = 0x02;

    @Override
    @BeforeEach
    void serve() throws IOException {
        serving = new Serving();
        raw = login("CRC32C", "CRC32C");
    }

    private RawInitiator login(String header, String data) throws IOException {
        return serving.loginAs("iqn.test:" + (header + data).toLowerCase(Locale.ROOT), "HeaderDigest=" + header,
            "DataDigest=" + data,
            "InitialR2T=No", "ImmediateData=Yes", "FirstBurstLength=16384", "MaxRecvDataSegmentLength=5000");
    }

    /** The examples come from RFC 7143, appendix A. */
    @ParameterizedTest
    @CsvSource({
        "0000000000000000000000000000000000000000000000000000000000000000, aa36918a",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff, 43aba862",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f, 4e79dd46",
        "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100, 5cdb3f11"
    })
    void crc32cDigestsMatchTheExamplesOfRfc7143(String bytes, String digest) {
        assertThat(Crc32c.digest(HexFormat.of().parseHex(bytes))).isEqualTo(HexFormat.of().parseHex(digest));
    }

    @ParameterizedTest
    @CsvSource({"CRC32C, None", "None, CRC32C", "CRC32C, CRC32C"})
    void writtenDataIsReadBackWithEveryCombinationOfDigests(String header, String data) throws IOException {
        try (RawInitiator initiator = login(header, data)) {
            byte[] bytes = random(6 * BLOCK, 1);
            int tag = initiator.command(WRITE_MORE_FOLLOWS, RawInitiator.write(3, 6), bytes.length,
                Arrays.copyOf(bytes, 1001));
            initiator.dataOut(tag, NONE, 0, 1001, Arrays.copyOfRange(bytes, 1001, 2003), false);
            initiator.dataOut(tag, NONE, 1, 2003, Arrays.copyOfRange(bytes, 2003, 16384), true);
            Reply r2t = initiator.receive();
            initiator.dataOut(tag, r2t.targetTransferTag(), 0, 16384, Arrays.copyOfRange(bytes, 16384, bytes.length),
                true);
            assertThat(initiator.end(tag).status()).isZero();
            assertThat(initiator.run(READ, RawInitiator.read(3, 6), bytes.length, EMPTY).data()).isEqualTo(bytes);
            assertThat(initiator.ping(Arrays.copyOf(bytes, 77)).data()).isEqualTo(Arrays.copyOf(bytes, 77));
        }
    }

    @Test
    void headerDigestCoversAdditionalHeaderSegments() throws IOException {
        ByteBuffer header = ByteBuffer.allocate(56).put(raw.request(0x01, NO_DATA, 9).put(4, (byte) 2).array());
        header.putInt(0x0005_0200);
        raw.sendBytes(raw.encode(header, EMPTY));
        assertThat(raw.end(9).status()).isZero();
    }

    @Test
    void damagedHeaderClosesTheConnectionWithoutAReject() throws IOException {
        byte[] pdu = raw.encode(raw.request(0x40, 0x80, 7).putInt(20, NONE), EMPTY);
        pdu[30] ^= 1;
        raw.sendBytes(pdu);
        Reply reply = null;
        try {
            reply = raw.receive();
        } catch (IOException e) {
            assertThat(e).isInstanceOfAny(EOFException.class, SocketException.class);
        }
        assertThat(reply).as("the response to a PDU with a damaged header").isNull();
    }

    /** Sends a PDU with one wrong bit in its data, so the data does not match the digest. */
    private void sendDamaged(ByteBuffer header, byte[] data) throws IOException {
        header.putInt(4, data.length);
        byte[] pdu = raw.encode(header, data);
        pdu[52 + data.length / 2] ^= 4;
        raw.sendBytes(pdu);
    }

    private void assertRejected(ByteBuffer header) throws IOException {
        assertReject(raw.receive(), DATA_DIGEST_ERROR, header);
    }

    private ByteBuffer writeHeader(int tag, int flags, int cmdSn) {
        return RawInitiator.header(0x01, flags | 1).putInt(16, tag).putInt(24, cmdSn).putInt(28, raw.expStatSn)
            .putInt(20, 4 * BLOCK).put(32, RawInitiator.write(0, 4));
    }

    @Test
    void commandRejectedForDamagedImmediateDataCanBeSentAgain() throws IOException {
        byte[] before = serving.fill(2);
        byte[] data = random(4 * BLOCK, 3);
        ByteBuffer header = writeHeader(500, WRITE, raw.cmdSn);
        sendDamaged(header, data);
        assertRejected(header);
        Reply ping = raw.ping(EMPTY);
        assertThat(ping.opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
        assertThat(ping.expCmdSn()).as("ExpCmdSN").isEqualTo(raw.cmdSn);
        assertThat(serving.contents(0, data.length)).isEqualTo(Arrays.copyOf(before, data.length));
        assertThat(raw.run(WRITE, RawInitiator.write(0, 4), data.length, data).status()).isZero();
        assertThat(serving.contents(0, data.length)).isEqualTo(data);
    }

    @Test
    void nextCommandClosesTheConnectionIfARejectedCommandIsNotSentAgain() throws IOException {
        ByteBuffer header = writeHeader(500, WRITE, raw.cmdSn++);
        sendDamaged(header, random(4 * BLOCK, 3));
        assertRejected(header);
        raw.command(NO_DATA, RawInitiator.cdb(0), 0, EMPTY);
        assertThat(raw.isClosedByTarget()).isTrue();
    }

    @Test
    void damagedDataOutFailsTheWriteAfterTheFinalDataOut() throws IOException {
        byte[] before = serving.fill(4);
        byte[] data = random(4 * BLOCK, 5);
        int tag = raw.command(WRITE, RawInitiator.write(0, 4), data.length, EMPTY);
        Reply r2t = raw.receive();
        ByteBuffer header = RawInitiator.header(0x05, 0).putInt(16, tag).putInt(20, r2t.targetTransferTag());
        sendDamaged(header, Arrays.copyOf(data, BLOCK));
        assertRejected(header);
        assertThat(raw.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
        raw.dataOut(tag, r2t.targetTransferTag(), 1, BLOCK, Arrays.copyOfRange(data, BLOCK, data.length), true);
        End end = raw.end(tag);
        assertThat(end.status()).isEqualTo(ScsiStatus.CHECK_CONDITION);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.PROTOCOL_SERVICE_CRC_ERROR);
        assertThat(serving.contents(0, data.length)).isEqualTo(Arrays.copyOf(before, data.length));
        assertThat(raw.run(WRITE, RawInitiator.write(0, 4), data.length, data).status()).isZero();
    }

    @Test
    void damagedUnsolicitedDataFailsTheCommand() throws IOException {
        byte[] data = random(4 * BLOCK, 6);
        int tag = raw.command(WRITE_MORE_FOLLOWS, RawInitiator.write(0, 4), data.length, Arrays.copyOf(data, BLOCK));
        ByteBuffer header = RawInitiator.header(0x05, 0x80).putInt(16, tag).putInt(20, NONE).putInt(40, BLOCK);
        sendDamaged(header, Arrays.copyOfRange(data, BLOCK, data.length));
        assertRejected(header);
        assertThat(raw.end(tag).senseCode()).isEqualTo(SenseCodes.PROTOCOL_SERVICE_CRC_ERROR);
    }

    @Test
    void sessionContinuesAfterADamagedDataOutForAnUnknownTask() throws IOException {
        ByteBuffer header = RawInitiator.header(0x05, 0x80).putInt(16, 999).putInt(20, 888);
        sendDamaged(header, new byte[100]);
        assertRejected(header);
        assertThat(raw.testUnitReady().status()).isZero();
    }

    @Test
    void rejectedPingWithDamagedDataDoesNotAdvanceExpCmdSn() throws IOException {
        ByteBuffer header = RawInitiator.header(0x00, 0x80).putInt(16, 7).putInt(20, NONE).putInt(24, raw.cmdSn)
            .putInt(28, raw.expStatSn);
        sendDamaged(header, new byte[100]);
        assertRejected(header);
        assertThat(raw.testUnitReady().status()).isZero();
    }

    @Test
    void discoverySessionCanUseDigests() throws IOException {
        try (RawInitiator finder = new RawInitiator(serving.server.localAddress())) {
            finder.login(1, 3, "InitiatorName=iqn.test:finder", "SessionType=Discovery", "HeaderDigest=CRC32C",
                "DataDigest=CRC32C");
            finder.headerDigests = true;
            finder.dataDigests = true;
            finder.send(finder.request(0x04, 0x80, 7).putInt(20, NONE), RawInitiator.text("SendTargets=All"));
            assertThat(finder.receive().text()).containsEntry("TargetName", MemoryTarget.NAME);
        }
    }
}
