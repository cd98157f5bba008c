package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.NONE;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE_MORE_FOLLOWS;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.End;
import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of write data that is sent as immediate, unsolicited or solicited data, and tests of errors in this data. */
class TargetWriteTest extends ServedTarget {
    private static final int MIB = 1 << 20;
    private static final String[] UNSOLICITED = {
        "InitialR2T=No", "ImmediateData=Yes", "FirstBurstLength=65536", "MaxBurstLength=131072",
        "MaxRecvDataSegmentLength=262144"
    };

    private static void small(TargetContext context) {
        context.bufferBytes(61L * BufferPool.CHUNK_BYTES).maxCommands = 2;
    }

    @Override
    @BeforeEach
    void serve() throws IOException {
        serving = new Serving();
        raw = serving.login(UNSOLICITED);
    }

    @Test
    void writeCompletesWithImmediateDataAlone() throws IOException {
        byte[] data = random(2 * BLOCK, 1);
        assertThat(raw.run(WRITE, RawInitiator.write(3, 2), data.length, data).status()).isZero();
        assertThat(serving.contents(3 * BLOCK, data.length)).isEqualTo(data);
    }

    @Test
    void writeCombinesImmediateUnsolicitedAndSolicitedData() throws IOException {
        byte[] data = random(MIB, 2);
        int tag = raw.command(WRITE_MORE_FOLLOWS, RawInitiator.write(0, MIB / BLOCK), MIB, Arrays.copyOf(data, 8192));
        raw.dataOut(tag, NONE, 0, 8192, Arrays.copyOfRange(data, 8192, 32768), false);
        raw.dataOut(tag, NONE, 1, 32768, Arrays.copyOfRange(data, 32768, 65536), true);
        assertThat(raw.serveR2ts(data, 50_000).status()).isZero();
        assertThat(serving.contents(0, MIB)).isEqualTo(data);
    }

    @ParameterizedTest
    @CsvSource({"5, 1000", "1024, 131072"})
    void writeCompletesWithSolicitedDataAlone(int blocks, int pduBytes) throws IOException {
        byte[] data = random(blocks * BLOCK, 3);
        raw.command(WRITE, RawInitiator.write(7, blocks), data.length, EMPTY);
        assertThat(raw.serveR2ts(data, pduBytes).status()).isZero();
        assertThat(serving.contents(7 * BLOCK, data.length)).isEqualTo(data);
    }

    @Test
    void expDataSnOfAWriteResponseCountsTheR2ts() throws IOException {
        byte[] data = random(MIB, 4);
        raw.command(WRITE, RawInitiator.write(0, 256), data.length, EMPTY);
        assertThat(raw.serveR2ts(data, 131072).last().expDataSn()).as("ExpDataSN").isEqualTo(8);
    }

    @Test
    void writeWithinTheFirstBurstCompletesWithoutAnR2t() throws IOException {
        byte[] data = random(2 * BLOCK, 5);
        int tag = raw.command(WRITE_MORE_FOLLOWS, RawInitiator.write(0, 2), data.length, Arrays.copyOf(data, BLOCK));
        raw.dataOut(tag, NONE, 0, BLOCK, Arrays.copyOfRange(data, BLOCK, data.length), true);
        assertThat(raw.end(tag).status()).isZero();
        assertThat(serving.contents(0, data.length)).isEqualTo(data);
    }

    /** The faulty data does not change the medium, and the session continues. */
    @ParameterizedTest
    @CsvSource({"a wrong offset, 0, 1, 1, " + SenseCodes.PROTOCOL_SERVICE_CRC_ERROR,
        "a wrong DataSN, 1, 0, 1, " + SenseCodes.PROTOCOL_SERVICE_CRC_ERROR,
        "more data than the R2T requested, 0, 0, 5, " + SenseCodes.INCORRECT_AMOUNT_OF_DATA,
        "too little data in the final Data-Out, 0, 0, 1, " + SenseCodes.INCORRECT_AMOUNT_OF_DATA})
    void solicitedDataOutWithAFaultFailsTheCommand(String fault, int dataSn, int offset, int blocks, int sense)
        throws IOException {
        byte[] before = serving.fill(6);
        int tag = raw.command(WRITE, RawInitiator.write(0, 4), 4 * BLOCK, EMPTY);
        Reply r2t = raw.receive();
        raw.dataOut(tag, r2t.targetTransferTag(), dataSn, offset * BLOCK, random(blocks * BLOCK, 7), true);
        End end = raw.end(tag);
        assertThat(end.status()).isEqualTo(ScsiStatus.CHECK_CONDITION);
        assertThat(end.senseCode()).as(fault).isEqualTo(sense);
        assertThat(serving.contents(0, 4 * BLOCK)).isEqualTo(Arrays.copyOf(before, 4 * BLOCK));
        byte[] data = random(BLOCK, 8);
        assertThat(raw.run(WRITE, RawInitiator.write(0, 1), BLOCK, data).status()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1 << 12, 1 << 11, 1 << 31})
    void writeContinuesAfterADataOutWithAnUnknownTransferTagIsRejected(int difference) throws IOException {
        byte[] data = random(4 * BLOCK, 8);
        int tag = raw.command(WRITE, RawInitiator.write(0, 4), data.length, EMPTY);
        Reply r2t = raw.receive();
        raw.dataOut(tag, r2t.targetTransferTag() + difference, 0, 0, new byte[data.length], true);
        assertThat(raw.receive().u8(2)).as("reject reason for an invalid PDU field").isEqualTo(0x09);
        raw.answerR2t(r2t, data, data.length);
        assertThat(raw.end(tag).status()).isZero();
        assertThat(serving.contents(0, data.length)).isEqualTo(data);
    }

    @Test
    void forbiddenUnsolicitedDataFailsTheCommandAfterTheFinalDataOut() throws IOException {
        byte[] before = serving.fill(20);
        try (RawInitiator strict = serving.loginAs("iqn.test:strict", "InitialR2T=Yes")) {
            int tag = strict.command(WRITE_MORE_FOLLOWS, RawInitiator.write(0, 4), 4 * BLOCK, EMPTY);
            strict.dataOut(tag, NONE, 0, 0, new byte[BLOCK], false);
            assertThat(strict.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
            strict.dataOut(tag, NONE, 1, BLOCK, new byte[3 * BLOCK], true);
            assertThat(strict.end(tag).senseCode()).isEqualTo(SenseCodes.UNEXPECTED_UNSOLICITED_DATA);
            assertThat(serving.contents(0, 4 * BLOCK)).isEqualTo(Arrays.copyOf(before, 4 * BLOCK));
            assertThat(strict.run(WRITE, RawInitiator.write(0, 1), BLOCK, new byte[BLOCK]).status()).isZero();
        }
    }

    @Test
    void statusOfAFailedWriteIsSentAfterTheFinalUnsolicitedDataOut() throws IOException {
        int tag = raw.command(WRITE_MORE_FOLLOWS, RawInitiator.write(1 << 20, 4), 4 * BLOCK, new byte[BLOCK]);
        assertThat(raw.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
        raw.dataOut(tag, NONE, 0, BLOCK, new byte[3 * BLOCK], true);
        assertThat(raw.end(tag).senseCode()).as("sense code").isEqualTo(SenseCodes.LBA_OUT_OF_RANGE);
    }

    @Test
    void unsolicitedDataOfAFailedWriteIsDroppedAfterTheWriteIsAborted() throws IOException {
        int tag = raw.command(WRITE_MORE_FOLLOWS, RawInitiator.write(1 << 20, 4), 4 * BLOCK, EMPTY);
        assertThat(raw.manage(1, tag)).isZero();
        raw.dataOut(tag, NONE, 0, 0, new byte[4 * BLOCK], true);
        assertThat(raw.ping(EMPTY).opcode()).isEqualTo(Opcode.NOP_IN);
    }

    @ParameterizedTest
    @CsvSource({"less data than the first burst, 0, 4096, " + SenseCodes.INCORRECT_AMOUNT_OF_DATA,
        "more data than the first burst, 4096, 65536, " + SenseCodes.UNEXPECTED_UNSOLICITED_DATA})
    void unsolicitedDataWithAnotherLengthThanTheFirstBurstFailsTheCommand(String fault, int immediate, int unsolicited,
        int sense) throws IOException {
        int tag = raw.command(WRITE_MORE_FOLLOWS, RawInitiator.write(0, 32), 32 * BLOCK, new byte[immediate]);
        raw.dataOut(tag, NONE, 0, immediate, new byte[unsolicited], true);
        assertThat(raw.end(tag).senseCode()).as(fault).isEqualTo(sense);
    }

    @Test
    void immediateDataLongerThanTheFirstBurstFailsTheCommand() throws IOException {
        End end = raw.run(WRITE, RawInitiator.write(0, 32), 32 * BLOCK, new byte[65540]);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.UNEXPECTED_UNSOLICITED_DATA);
    }

    @Test
    void unsolicitedDataThatItsCommandDidNotAnnounceIsDropped() throws IOException {
        byte[] before = serving.fill(21);
        int tag = raw.command(WRITE, RawInitiator.write(0, 4), 4 * BLOCK, EMPTY);
        Reply r2t = raw.receive();
        raw.dataOut(tag, NONE, 0, 0, new byte[4 * BLOCK], true);
        assertThat(raw.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
        byte[] data = random(4 * BLOCK, 22);
        raw.answerR2t(r2t, data, data.length);
        assertThat(raw.end(tag).status()).isZero();
        assertThat(serving.contents(0, data.length)).isEqualTo(data).isNotEqualTo(Arrays.copyOf(before, data.length));
    }

    @Test
    void dataOutForACompletedTaskIsDropped() throws IOException {
        byte[] data = random(4 * BLOCK, 23);
        int tag = raw.command(WRITE, RawInitiator.write(0, 4), data.length, EMPTY);
        Reply r2t = raw.receive();
        raw.answerR2t(r2t, data, data.length);
        raw.end(tag);
        raw.dataOut(tag, r2t.targetTransferTag(), 0, 0, new byte[data.length], true);
        assertThat(raw.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
        assertThat(serving.contents(0, data.length)).isEqualTo(data);
    }

    @Test
    void faultyDataOutFailsTheCommandAfterTheFinalDataOut() throws IOException {
        int tag = raw.command(WRITE, RawInitiator.write(0, 4), 4 * BLOCK, EMPTY);
        Reply r2t = raw.receive();
        raw.dataOut(tag, r2t.targetTransferTag(), 3, 0, new byte[BLOCK], false);
        assertThat(raw.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
        raw.dataOut(tag, r2t.targetTransferTag(), 1, BLOCK, new byte[3 * BLOCK], true);
        assertThat(raw.end(tag).senseCode()).isEqualTo(SenseCodes.PROTOCOL_SERVICE_CRC_ERROR);
    }

    @Test
    void forbiddenImmediateDataFailsTheCommand() throws IOException {
        byte[] before = serving.fill(24);
        try (RawInitiator strict = serving.loginAs("iqn.test:strict", "ImmediateData=No")) {
            End end = strict.run(WRITE, RawInitiator.write(0, 1), BLOCK, new byte[BLOCK]);
            assertThat(end.senseCode()).isEqualTo(SenseCodes.UNEXPECTED_UNSOLICITED_DATA);
            assertThat(serving.contents(0, BLOCK)).isEqualTo(Arrays.copyOf(before, BLOCK));
            assertThat(strict.ping(EMPTY).opcode()).isEqualTo(Opcode.NOP_IN);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "100, 0", "4096, 0", "12288, 0", "16383, 0", "16384, 4019"})
    void incompleteWriteOfALostConnectionLeavesTheMediumUnchanged(int announced, int missing) throws IOException {
        byte[] before = serving.fill(9);
        int tag = raw.command(WRITE, RawInitiator.write(0, 4), 4 * BLOCK, EMPTY);
        ByteBuffer header = RawInitiator.header(0x05, missing == 0 ? 0 : 0x80).putInt(16, tag)
            .putInt(20, raw.receive().targetTransferTag()).putInt(4, announced);
        byte[] pdu = raw.encode(header, random(announced, 10));
        raw.sendBytes(Arrays.copyOf(pdu, pdu.length - missing));
        raw.close();
        serving.awaitNothingLeft();
        assertThat(serving.contents(0, 4 * BLOCK)).isEqualTo(Arrays.copyOf(before, 4 * BLOCK));
    }

    @Test
    void writeOfMoreThanTheExpectedLengthReportsAnOverflow() throws IOException {
        byte[] data = random(BLOCK, 13);
        End end = raw.run(WRITE, RawInitiator.write(0, 3), BLOCK, data);
        assertThat(end.overflow()).isTrue();
        assertThat(end.residual()).isEqualTo(2 * BLOCK);
    }

    @Test
    void writeOfLessThanTheExpectedLengthReportsAnUnderflow() throws IOException {
        byte[] before = serving.fill(14);
        byte[] data = random(3 * BLOCK, 13);
        End end = raw.run(WRITE, RawInitiator.write(0, 1), data.length, data);
        assertThat(end.underflow()).isTrue();
        assertThat(end.residual()).isEqualTo(2 * BLOCK);
        assertThat(serving.contents(BLOCK, BLOCK)).isEqualTo(Arrays.copyOfRange(before, BLOCK, 2 * BLOCK));
    }

    @Test
    void readOfMoreThanTheExpectedLengthReportsAnOverflow() throws IOException {
        byte[] medium = serving.fill(15);
        End end = raw.run(RawInitiator.READ, RawInitiator.read(0, 2), 6000, EMPTY);
        assertThat(end.overflow()).isTrue();
        assertThat(end.residual()).isEqualTo(2 * BLOCK - 6000);
        assertThat(end.data()).isEqualTo(Arrays.copyOf(medium, 6000));
    }

    @Test
    void readOfLessThanTheExpectedLengthReportsAnUnderflow() throws IOException {
        End end = raw.run(RawInitiator.READ, RawInitiator.read(0, 1), 10_000, EMPTY);
        assertThat(end.underflow()).isTrue();
        assertThat(end.residual()).isEqualTo(10_000 - BLOCK);
    }

    @Test
    void readDataIsSplitIntoSegmentsAndBurstsThatTheInitiatorAccepts() throws IOException {
        byte[] medium = serving.fill(16);
        try (RawInitiator small = serving.loginAs("iqn.test:small", "MaxRecvDataSegmentLength=1000",
            "MaxBurstLength=2500")) {
            small.command(RawInitiator.READ, RawInitiator.read(0, 2), 2 * BLOCK, EMPTY);
            int[] lengths = {1000, 1000, 500, 1000, 1000, 500, 1000, 1000, 500, 692};
            for (int i = 0; i < lengths.length; i++) {
                Reply reply = small.receive();
                assertThat(reply.data()).hasSize(lengths[i]);
                assertThat(reply.expDataSn()).as("DataSN").isEqualTo(i);
                assertThat((reply.flags() & 0x80) != 0).as("F bit of Data-In %d", i).isEqualTo(i % 3 == 2 || i == 9);
            }
            assertThat(small.end(small.command(RawInitiator.READ, RawInitiator.read(0, 2), 2 * BLOCK, EMPTY)).data())
                .isEqualTo(Arrays.copyOf(medium, 2 * BLOCK));
        }
    }

    /**
     * Logs in three sessions and starts a large write in each. The writes occupy almost all memory, and their data is never sent.
     */
    private RawInitiator[] exhaust(Serving small) throws IOException {
        RawInitiator[] hogs = new RawInitiator[3];
        for (int i = 0; i < hogs.length; i++) {
            hogs[i] = small.loginAs("iqn.test:hog" + i, "ImmediateData=No");
            hogs[i].command(WRITE, RawInitiator.write(0, 1024), 4 * MIB, EMPTY);
            assertThat(hogs[i].receive().opcode()).as("R2T").isEqualTo(Opcode.R2T);
        }
        return hogs;
    }

    @Test
    void writeGetsNoR2tUntilEnoughMemoryIsFree() throws IOException {
        try (Serving small = new Serving(TargetWriteTest::small);
            RawInitiator waiting = small.loginAs("iqn.test:waiting", "ImmediateData=No")) {
            RawInitiator[] hogs = exhaust(small);
            byte[] data = random(MIB, 17);
            waiting.command(WRITE, RawInitiator.write(1024, 256), MIB, EMPTY);
            assertThat(waiting.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
            hogs[0].close();
            assertThat(waiting.serveR2ts(data, 65536).status()).isZero();
            assertThat(small.contents(4L * MIB, MIB)).isEqualTo(data);
            hogs[1].close();
        }
    }

    @Test
    void smallWriteDoesNotWaitForMemoryBehindALargeWrite() throws IOException {
        try (Serving small = new Serving(TargetWriteTest::small);
            RawInitiator waiting = small.loginAs("iqn.test:waiting", UNSOLICITED)) {
            RawInitiator[] hogs = exhaust(small);
            waiting.command(WRITE, RawInitiator.write(1024, 256), MIB, EMPTY);
            int tag = waiting.command(WRITE_MORE_FOLLOWS, RawInitiator.write(0, 32), 32 * BLOCK, EMPTY);
            waiting.dataOut(tag, NONE, 0, 0, random(65536, 18), true);
            assertThat(waiting.receive().opcode()).as("R2T for the rest of the small write").isEqualTo(Opcode.R2T);
            hogs[0].close();
            hogs[1].close();
        }
    }

    @Test
    void initiatorIsNotDisconnectedWhileItsWriteWaitsForMemory() throws IOException {
        try (Serving small = new Serving(context -> {
            small(context);
            context.transferTimeout = Duration.ofSeconds(2);
        });
            RawInitiator waiting = small.loginAs("iqn.test:waiting", "ImmediateData=No")) {
            // exhaust() starts three writes that never get their data. The target closes the connections of these writes after
            // the transfer timeout, which frees the memory.
            RawInitiator[] hogs = exhaust(small);
            waiting.command(WRITE, RawInitiator.write(1024, 1024), 4 * MIB, EMPTY);
            assertThat(hogs[1].isClosedByTarget()).isTrue();
            assertThat(waiting.serveR2ts(random(4 * MIB, 19), 65536).status()).isZero();
        }
    }

    @Test
    void newSessionsLogInWhileWritesOccupyAllMemoryThatIsNotPromised() throws IOException {
        try (Serving small = new Serving(TargetWriteTest::small)) {
            RawInitiator[] hogs = exhaust(small);
            hogs[0].command(WRITE, RawInitiator.write(0, 384), 384 * BLOCK, EMPTY);
            assertThat(hogs[0].ping(EMPTY).opcode()).as("no R2T for chunks that are promised").isEqualTo(Opcode.NOP_IN);
            List<RawInitiator> late = new ArrayList<>();
            for (int i = hogs.length; i < Serving.CONNECTIONS; i++) {
                late.add(small.loginAs("iqn.test:late" + i, UNSOLICITED));
            }
            for (RawInitiator one : late) {
                one.close();
            }
            for (RawInitiator hog : hogs) {
                hog.close();
            }
            small.awaitNothingLeft();
        }
    }
}
