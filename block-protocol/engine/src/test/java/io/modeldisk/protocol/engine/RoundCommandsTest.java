package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.End;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the commands PUSH and PULL in the wire format that PROTOCOL.md describes. */
class RoundCommandsTest extends ServedTarget {
    private static final int BLOCKS = 2048;
    private static final int PUSH = 0xC1;
    private static final int PULL = 0xC2;

    @BeforeEach
    void keepRounds() {
        serving.target.unit.keepsRounds = true;
    }

    private static byte[] cdb(int opcode, long lba, int blocks, long round) {
        return ByteBuffer.allocate(16).put(0, (byte) opcode).putInt(2, (int) lba)
            .putLong(6, (long) blocks << 48 | round).array();
    }

    @Test
    void pushPassesItsDataAndRoundToTheLogicalUnit() throws IOException {
        byte[] data = random(2 * BLOCK, 1);
        End end = raw.run(WRITE, cdb(PUSH, 3, 2, 0xABCDEF012345L), data.length, data);
        assertThat(end.status()).isZero();
        assertThat(serving.target.unit.round).isEqualTo(0xABCDEF012345L);
        assertThat(serving.contents(3 * BLOCK, data.length)).isEqualTo(data);
    }

    @Test
    void pullPassesItsRoundToTheLogicalUnit() throws IOException {
        serving.fill(2);
        End end = raw.run(READ, cdb(PULL, 5, 4, 0), 4 * BLOCK, EMPTY);
        assertThat(end.status()).isZero();
        assertThat(serving.target.unit.round).isZero();
        assertThat(end.data()).isEqualTo(serving.contents(5 * BLOCK, 4 * BLOCK));
    }

    @Test
    void readAndWriteCommandsPassNoRoundToTheLogicalUnit() throws IOException {
        raw.run(READ, RawInitiator.read(0, 1), BLOCK, EMPTY);
        assertThat(serving.target.unit.round).isEqualTo(IoTask.IMPLIED_ROUND);
        raw.run(WRITE, cdb(PUSH, 0, 1, 7), BLOCK, new byte[BLOCK]);
        raw.run(WRITE, RawInitiator.write(0, 1), BLOCK, new byte[BLOCK]);
        assertThat(serving.target.unit.round).isEqualTo(IoTask.IMPLIED_ROUND);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 14, 15})
    void commandWithANonzeroReservedCdbByteIsRefusedWithAFieldPointer(int at) throws IOException {
        byte[] cdb = cdb(PULL, 0, 1, 1);
        cdb[at] = 4;
        End end = raw.run(READ, cdb, BLOCK, EMPTY);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
        assertThat(end.fieldPointer() & 0xFFFF).isEqualTo(at);
    }

    @Test
    void pushOfRoundZeroPassesNoRoundToTheLogicalUnit() throws IOException {
        assertThat(raw.run(WRITE, cdb(PUSH, 0, 1, 0), BLOCK, new byte[BLOCK]).status()).isZero();
        assertThat(serving.target.unit.round).isEqualTo(IoTask.IMPLIED_ROUND);
    }

    @Test
    void logicalUnitGetsTheFiniteFlagOfAPush() throws IOException {
        byte[] cdb = cdb(PUSH, 0, 1, 7);
        cdb[1] = 1;
        assertThat(raw.run(WRITE, cdb, BLOCK, new byte[BLOCK]).status()).isZero();
        assertThat(serving.target.unit.declaredFinite).isTrue();
        raw.run(WRITE, cdb(PUSH, 0, 1, 7), BLOCK, new byte[BLOCK]);
        assertThat(serving.target.unit.declaredFinite).isFalse();
    }

    @Test
    void pullOfMoreBlocksThanTheLimitIsRefused() throws IOException {
        End end = raw.run(READ, cdb(PULL, 0, 2049, 0), BLOCK, EMPTY);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
        assertThat(end.fieldPointer() & 0xFFFF).isEqualTo(6);
    }

    @ParameterizedTest
    @CsvSource({"2047, 2", "2048, 1", "2049, 0", "4294967295, 1"})
    void pullBeyondTheEndOfTheUnitIsRefused(long lba, int blocks) throws IOException {
        assertThat(serving.target.unit.sizeBytes()).isEqualTo((long) BLOCKS * BLOCK);
        End end = raw.run(READ, cdb(PULL, lba, blocks, 0), BLOCK, EMPTY);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.LBA_OUT_OF_RANGE);
        assertThat(end.fieldPointer() & 0xFFFF).isEqualTo(2);
    }

    @Test
    void logicalUnitWithoutRoundsRefusesPushAndPull() throws IOException {
        serving.target.unit.keepsRounds = false;
        assertThat(raw.run(READ, cdb(PULL, 0, 1, 0), BLOCK, EMPTY).senseCode()).isEqualTo(SenseCodes.INVALID_OPCODE);
        assertThat(raw.run(WRITE, cdb(PUSH, 0, 1, 1), BLOCK, new byte[BLOCK]).senseCode())
            .isEqualTo(SenseCodes.INVALID_OPCODE);
    }
}
