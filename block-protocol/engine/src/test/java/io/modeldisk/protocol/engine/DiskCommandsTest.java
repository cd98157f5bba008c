package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.NO_DATA;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.protocol.engine.RawInitiator.cdb;
import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.engine.RawInitiator.End;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the commands VERIFY, WRITE AND VERIFY, WRITE SAME and PRE-FETCH (SBC-3) over a connection. */
class DiskCommandsTest extends ServedTarget {
    private static final int BLOCKS = 2048;
    private static final int CONDITION_MET = 0x04;
    private static final int MISCOMPARE = 0xE1D00;
    private static final int INVALID_FIELD_IN_COMMAND_UNIT = 0x50E03;

    private static final int COMPARE = 0x02;
    private static final int RESERVED_CHECK = 0x04;
    private static final int COMPARE_ONE = 0x06;

    private byte[] medium;

    @BeforeEach
    void fill() {
        medium = serving.fill(1);
    }

    /** Returns a CDB of 10, 12 or 16 bytes for a range of the medium. */
    private static byte[] range(int opcode, int flags, int lba, int blocks) {
        ByteBuffer cdb = ByteBuffer.allocate(16).put(0, (byte) opcode).put(1, (byte) flags);
        return switch (opcode >> 5) {
            case 4 -> cdb.putLong(2, lba).putInt(10, blocks).array();
            case 5 -> cdb.putInt(2, lba).putInt(6, blocks).array();
            default -> cdb.putInt(2, lba).putShort(7, (short) blocks).array();
        };
    }

    private End write(int opcode, int flags, int lba, int blocks, byte[] data) throws IOException {
        return raw.run(data.length == 0 ? NO_DATA : WRITE, range(opcode, flags, lba, blocks), data.length, data);
    }

    private byte[] blocks(int lba, int count) {
        return Arrays.copyOfRange(medium, lba * BLOCK, (lba + count) * BLOCK);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x2F, 0xAF, 0x8F})
    void verifyWithoutAByteCheckNeedsNoData(int opcode) throws IOException {
        assertThat(write(opcode, 0, 0, BLOCKS, EMPTY).status()).isZero();
        assertThat(write(opcode, 0, 1, BLOCKS, EMPTY).senseCode()).isEqualTo(SenseCodes.LBA_OUT_OF_RANGE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x2F, 0xAF, 0x8F})
    void verifyWithEqualDataSucceeds(int opcode) throws IOException {
        End end = write(opcode, COMPARE, 7, 3, blocks(7, 3));
        assertThat(end.status()).isZero();
        assertThat(end.residual()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"0x2F, 0", "0xAF, 4097", "0x8F, 12287"})
    void verifyReportsTheFirstDifference(int opcode, int at) throws IOException {
        byte[] data = blocks(7, 3);
        Arrays.fill(data, at, data.length, (byte) ~data[at]);
        End end = write(opcode, COMPARE, 7, 3, data);
        assertThat(end.senseCode()).isEqualTo(MISCOMPARE);
        assertThat(end.information()).isEqualTo(at);
        assertThat(end.residual()).isZero();
        assertThat(serving.contents(0, medium.length)).isEqualTo(medium);
    }

    @Test
    void verifyComparesAllPiecesOfALongRange() throws IOException {
        byte[] data = blocks(100, 512);
        raw.command(WRITE, range(0x8F, COMPARE, 100, 512), data.length, EMPTY);
        data[data.length - 1] ^= 1;
        assertThat(raw.serveR2ts(data, data.length).information()).isEqualTo(data.length - 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x2F, 0xAF, 0x8F})
    void verifyWithOneBlockOfDataComparesEveryBlockOfTheRange(int opcode) throws IOException {
        byte[] one = random(BLOCK, 2);
        write(0x93, 0, 60, 70, one);
        assertThat(write(opcode, COMPARE_ONE, 60, 70, one).status()).isZero();
        End end = write(opcode, COMPARE_ONE, 60, 71, one);
        assertThat(end.senseCode()).isEqualTo(MISCOMPARE);
        assertThat(end.information()).isEqualTo(70 * BLOCK + Arrays.mismatch(one, blocks(130, 1)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0x2F, 0xAF, 0x8F, 0x2E, 0xAE, 0x8E})
    void reservedByteCheckValueIsRefused(int opcode) throws IOException {
        End end = write(opcode, RESERVED_CHECK, 0, 1, new byte[BLOCK]);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
        assertThat(end.fieldPointer()).as("field pointer to bit 2 of byte 1").isEqualTo(0xCA0001);
    }

    @Test
    void verifyOfZeroBlocksSucceeds() throws IOException {
        for (int check : new int[]{0, COMPARE, COMPARE_ONE}) {
            assertThat(write(0x8F, check, 0, 0, EMPTY).status()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"0x2E, 0", "0xAE, 0", "0x8E, 0", "0x2E, 2", "0xAE, 2", "0x8E, 2"})
    void writeAndVerifyWritesItsData(int opcode, int check) throws IOException {
        byte[] data = random(3 * BLOCK, opcode);
        assertThat(write(opcode, check, 9, 3, data).status()).isZero();
        assertThat(serving.contents(9 * BLOCK, data.length)).isEqualTo(data);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x41, 0x93})
    void writeSameFillsExactlyItsRange(int opcode) throws IOException {
        byte[] one = random(BLOCK, 3);
        assertThat(write(opcode, 0, 63, 130, one).status()).isZero();
        for (int lba = 63; lba < 63 + 130; lba++) {
            System.arraycopy(one, 0, medium, lba * BLOCK, BLOCK);
        }
        assertThat(serving.contents(0, medium.length)).isEqualTo(medium);
    }

    @Test
    void parkedWriteSameContinuesWhereItStopped() throws IOException {
        AtomicInteger filled = new AtomicInteger();
        serving.target.unit.filling = () -> {
            filled.incrementAndGet();
            serving.target.unit.parking = true;
        };
        byte[] one = random(BLOCK, 3);
        int tag = raw.command(WRITE, range(0x93, 0, 63, 130), BLOCK, one);
        for (int i = 0; i < 3; i++) {
            await("WRITE SAME waits", () -> !serving.target.unit.parked.isEmpty());
            serving.target.unit.parking = false;
            serving.target.unit.parked.removeFirst().resume();
        }
        assertThat(raw.end(tag).status()).isZero();
        assertThat(filled).as("blocks of the unit that were filled").hasValue(4);
        for (int lba = 63; lba < 63 + 130; lba++) {
            System.arraycopy(one, 0, medium, lba * BLOCK, BLOCK);
        }
        assertThat(serving.contents(0, medium.length)).isEqualTo(medium);
    }

    @Test
    void parkedWriteAndVerifyComparesItsDataOnlyAfterTheWrite() throws IOException {
        serving.target.unit.parking = true;
        byte[] data = random(BLOCK, 4);
        int tag = raw.command(WRITE, range(0x8E, COMPARE, 9, 1), BLOCK, data);
        await("the write waits", () -> !serving.target.unit.parked.isEmpty());
        serving.target.unit.parking = false;
        serving.target.unit.parked.removeFirst().resume();
        assertThat(raw.end(tag).status()).isZero();
        assertThat(serving.contents(9 * BLOCK, BLOCK)).isEqualTo(data);
    }

    @Test
    void writeSameWithoutDataWritesZeros() throws IOException {
        assertThat(write(0x93, 0x01, 63, 130, EMPTY).status()).isZero();
        Arrays.fill(medium, 63 * BLOCK, (63 + 130) * BLOCK, (byte) 0);
        assertThat(serving.contents(0, medium.length)).isEqualTo(medium);
    }

    @ParameterizedTest
    @CsvSource({"0x41, 0x08, 0xCB0001", "0x41, 0x10, 0xCC0001", "0x93, 0x08, 0xCB0001", "0x93, 0x10, 0xCC0001",
        "0x41, 0x01, 0xC80001", "0x93, 0x20, 0xCD0001"})
    void writeSameWithAnUnsupportedFlagIsRefused(int opcode, int flags, int pointer) throws IOException {
        End end = write(opcode, flags, 0, 1, new byte[BLOCK]);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
        assertThat(end.fieldPointer()).isEqualTo(pointer);
        assertThat(serving.contents(0, BLOCK)).isEqualTo(blocks(0, 1));
    }

    @ParameterizedTest
    @CsvSource({"0x41, 7", "0x93, 10"})
    void writeSameOfZeroBlocksIsRefusedAsTheBlockLimitsPageStates(int opcode, int field) throws IOException {
        End end = write(opcode, 0, 0, 0, new byte[BLOCK]);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
        assertThat(end.fieldPointer()).isEqualTo(0xC00000 | field);
        byte[] limits = raw.run(READ, cdb(0x12, 1, 0xB0, 0, 64), 64, EMPTY).data();
        assertThat(limits[4]).as("WSNZ").isEqualTo((byte) 1);
    }

    @Test
    void rangeAboveTheMaximumIsRefusedForWriteSameAndForVerify() throws IOException {
        byte[] limits = raw.run(READ, cdb(0x12, 1, 0xB0, 0, 64), 64, EMPTY).data();
        int limit = (int) ByteBuffer.wrap(limits).getLong(36);
        for (byte[] cdb : new byte[][]{range(0x93, 0, 0, limit + 1), range(0x8F, COMPARE_ONE, 0, limit + 1)}) {
            End end = raw.run(WRITE, cdb, BLOCK, new byte[BLOCK]);
            assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
            assertThat(end.fieldPointer()).isEqualTo(0xC0000A);
        }
    }

    @ParameterizedTest
    @CsvSource({"0x41, 0", "0x93, 0", "0x8F, 6"})
    void commandThatNeedsOneBlockOfDataIsRefusedIfTheDataIsShorter(int opcode, int flags) throws IOException {
        byte[] cdb = range(opcode, flags, 0, 4);
        assertThat(raw.run(NO_DATA, cdb, 0, EMPTY).senseCode()).isEqualTo(INVALID_FIELD_IN_COMMAND_UNIT);
        assertThat(raw.run(WRITE, cdb, BLOCK - 1, new byte[BLOCK - 1]).senseCode())
            .isEqualTo(INVALID_FIELD_IN_COMMAND_UNIT);
        assertThat(raw.run(READ, cdb, BLOCK, EMPTY).senseCode()).isEqualTo(INVALID_FIELD_IN_COMMAND_UNIT);
        assertThat(serving.contents(0, medium.length)).isEqualTo(medium);
    }

    @ParameterizedTest
    @CsvSource({"true, its expected data transfer length is 4095",
        "false, 'its W bit is 0, so the initiator sends no data'"})
    void refusalOfWriteSameNamesTheReasonWhyDataIsMissing(boolean sendsData, String cause) {
        DecodedCommand command = new DecodedCommand();
        System.arraycopy(range(0x93, 0, 0, 4), 0, command.cdb.bytes(), 0, 16);
        command.unit = serving.target.unit;
        command.sendsData = sendsData;
        command.expectedBytes = BLOCK - 1;
        assertThatThrownBy(() -> DiskCommands.decodeWriteSame(command))
            .hasMessageStartingWith("the command needs 4096 bytes of data, but " + cause);
    }

    @Test
    void writeSameWithMoreThanOneBlockOfDataReportsAnUnderflow() throws IOException {
        End end = raw.run(WRITE, range(0x93, 0, 0, 4), 3 * BLOCK, new byte[3 * BLOCK]);
        assertThat(end.status()).isZero();
        assertThat(end.underflow()).isTrue();
        assertThat(end.residual()).isEqualTo(2 * BLOCK);
    }

    @ParameterizedTest
    @CsvSource({"0x41, 2047, 2", "0x93, 2048, 1", "0x2E, 2048, 1", "0x8F, 2048, 1", "0x34, 2048, 1", "0x90, 2000, 49",
        "0x8A, 2048, 1", "0x91, 2048, 1"})
    void rangeBeyondTheEndOfTheUnitIsRefusedWithAFieldPointer(int opcode, int lba, int blocks) throws IOException {
        End end = raw.run(WRITE, range(opcode, 0, lba, blocks), BLOCK, new byte[BLOCK]);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.LBA_OUT_OF_RANGE);
        assertThat(end.fieldPointer()).isEqualTo(0xC00002);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x34, 0x90})
    void preFetchEndsWithConditionMet(int opcode) throws IOException {
        assertThat(write(opcode, 0, 0, BLOCKS, EMPTY).status()).isEqualTo(CONDITION_MET);
        assertThat(write(opcode, 0x02, 5, 0, EMPTY).status()).isEqualTo(CONDITION_MET);
    }
}
