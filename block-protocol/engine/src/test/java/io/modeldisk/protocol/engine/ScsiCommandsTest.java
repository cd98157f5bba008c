package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.NO_DATA;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.protocol.engine.RawInitiator.cdb;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.End;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the response to each SCSI command (SPC-4, SBC-3). */
class ScsiCommandsTest extends SharedTarget {
    private static final int BLOCKS = 2048;

    private End read(int expected, int... bytes) throws IOException {
        return raw.run(READ, cdb(bytes), expected, EMPTY);
    }

    private static String ascii(byte[] data, int from, int length) {
        return new String(data, from, length, StandardCharsets.US_ASCII);
    }

    @Test
    void standardInquiryReturnsVendorAndProduct() throws IOException {
        byte[] data = read(96, 0x12, 0, 0, 0, 96).data();
        assertThat(data).hasSize(96);
        assertThat(data[0]).as("device type of a disk").isZero();
        assertThat(ascii(data, 8, 24)).isEqualTo("MODELDSKmemory          ");
    }

    private End readHex(String cdb) throws IOException {
        return raw.run(READ, Arrays.copyOf(HexFormat.ofDelimiter(" ").parseHex(cdb), 16), 255, EMPTY);
    }

    @ParameterizedTest
    @CsvSource({"12 00 00 00 00, 0", "12 00 00 00 01, 1", "12 00 00 00 05, 5", "12 00 00 00 24, 36",
        "12 00 00 00 5F, 95", "1A 00 3F 00 04, 4", "9E 10 00 00 00 00 00 00 00 00 00 00 00 0C, 12"})
    void parameterDataIsCutToTheAllocationLength(String cdb, int length) throws IOException {
        End end = readHex(cdb);
        assertThat(end.data()).hasSize(length);
        assertThat(end.status()).isZero();
    }

    @Test
    void parameterDataShorterThanTheExpectedLengthReportsAnUnderflow() throws IOException {
        End end = read(255, 0x12, 0, 0, 0, 255);
        assertThat(end.underflow()).isTrue();
        assertThat(end.residual()).isEqualTo(255 - 96);
    }

    @Test
    void supportedVpdPagesAreListedInAscendingOrder() throws IOException {
        byte[] data = read(255, 0x12, 1, 0, 0, 255).data();
        assertThat(Arrays.copyOfRange(data, 4, data.length))
            .containsExactly(0x00, 0x80, 0x83, 0xB0, 0xB1, 0xC0);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x00, 0x80, 0x83, 0xB0, 0xB1, 0xC0})
    void vpdPageStartsWithItsCodeAndLength(int page) throws IOException {
        byte[] data = read(255, 0x12, 1, page, 0, 255).data();
        assertThat(data[1] & 0xFF).isEqualTo(page);
        assertThat(ByteBuffer.wrap(data).getShort(2)).isEqualTo((short) (data.length - 4));
    }

    @Test
    void serialNumberPageContainsTheSerialNumber() throws IOException {
        byte[] data = read(255, 0x12, 1, 0x80, 0, 255).data();
        assertThat(ascii(data, 4, data.length - 4)).isEqualTo("memory-0");
    }

    @Test
    void blockLimitsPageContainsTheMaximumTransferLength() throws IOException {
        assertThat(ByteBuffer.wrap(read(255, 0x12, 1, 0xB0, 0, 255).data()).getInt(8)).isEqualTo(2048);
    }

    @ParameterizedTest
    @CsvSource({"an unknown VPD page, 12 01 B9 00 FF", "a VPD page without EVPD, 12 00 80 00 FF",
        "an unknown mode page, 1A 00 01 00 FF", "an unknown service action, 9E 11 00 00 00 00 00 00 00 00 00 00 00 20",
        "a too small allocation length, A0 00 00 00 00 00 00 00 00 08"})
    void commandWithAnInvalidFieldIsRefused(String field, String cdb) throws IOException {
        assertThat(readHex(cdb).senseCode()).as(field).isEqualTo(SenseCodes.INVALID_FIELD);
    }

    @Test
    void readCapacity10ReturnsTheLastLbaAndTheBlockSize() throws IOException {
        ByteBuffer data = ByteBuffer.wrap(read(8, 0x25).data());
        assertThat(data.getInt(0)).isEqualTo(BLOCKS - 1);
        assertThat(data.getInt(4)).isEqualTo(BLOCK);
    }

    @Test
    void readCapacity16ReturnsTheLastLbaAndTheBlockSize() throws IOException {
        ByteBuffer data = ByteBuffer.wrap(read(32, 0x9E, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32).data());
        assertThat(data.getLong(0)).isEqualTo(BLOCKS - 1);
        assertThat(data.getInt(8)).isEqualTo(BLOCK);
    }

    @Test
    void modeSense6ReturnsTheBlockDescriptorAndAllPages() throws IOException {
        byte[] data = read(255, 0x1A, 0, 0x3F, 0, 255).data();
        assertThat(data).hasSize(4 + 8 + 20 + 12 + 12);
        assertThat(data[0] & 0xFF).as("mode data length").isEqualTo(data.length - 1);
        assertThat(data[3]).as("block descriptor length").isEqualTo((byte) 8);
    }

    @Test
    void modeSense10OmitsTheBlockDescriptorOnRequest() throws IOException {
        byte[] data = read(255, 0x5A, 0x08, 0x08, 0, 0, 0, 0, 0, 255).data();
        assertThat(data).hasSize(8 + 20);
        assertThat(ByteBuffer.wrap(data).getShort(6)).isZero();
    }

    @Test
    void modeSenseOfSavedPagesIsRefused() throws IOException {
        assertThat(read(255, 0x1A, 0, 0xFF, 0, 255).senseCode()).isEqualTo(SenseCodes.SAVING_NOT_SUPPORTED);
    }

    @Test
    void reportLunsListsTheLogicalUnits() throws IOException {
        byte[] data = read(64, 0xA0, 0, 0, 0, 0, 0, 0, 0, 0, 64).data();
        assertThat(data).hasSize(16);
        assertThat(ByteBuffer.wrap(data).getInt(0)).isEqualTo(8);
        assertThat(ByteBuffer.wrap(data).getLong(8)).isZero();
    }

    @Test
    void requestSenseWithoutAUnitAttentionReturnsTheSenseKeyNoSense() throws IOException {
        byte[] data = read(18, 0x03, 0, 0, 0, 18).data();
        assertThat(data).hasSize(18).startsWith(0x70, 0, 0);
    }

    @Test
    void commandToAMissingLogicalUnitIsRefused() throws IOException {
        int tag = raw.command(0x01, NO_DATA, 3, cdb(0), 0, EMPTY);
        assertThat(raw.end(tag).senseCode()).isEqualTo(SenseCodes.LUN_NOT_SUPPORTED);
    }

    @Test
    void inquiryOfAMissingLogicalUnitReportsNoDevice() throws IOException {
        int tag = raw.command(0x01, READ, 3, cdb(0x12, 0, 0, 0, 36), 36, EMPTY);
        assertThat(raw.end(tag).data()[0]).isEqualTo((byte) 0x7F);
    }

    @ParameterizedTest
    @CsvSource({"2048, 1", "2047, 2", "2049, 0", "9223372036854775807, 1", "-1, 1", "-1, 0", "1, 2048", "-2048, 2048"})
    void readBeyondTheEndOfTheUnitIsRefused(long lba, int blocks) throws IOException {
        End end = raw.run(READ, RawInitiator.read(lba, blocks), BLOCK, EMPTY);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.LBA_OUT_OF_RANGE);
    }

    @Test
    void readAboveTheTransferLimitIsRefused() throws IOException {
        assertThat(raw.run(READ, RawInitiator.read(0, 2049), 2049 * BLOCK, EMPTY).senseCode())
            .isEqualTo(SenseCodes.INVALID_FIELD);
    }

    @Test
    void readThatRequestsProtectionInformationIsRefused() throws IOException {
        byte[] cdb = RawInitiator.read(0, 1);
        cdb[1] = 0x20;
        assertThat(raw.run(READ, cdb, BLOCK, EMPTY).senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 10, 12, 16})
    void readReturnsTheWrittenDataForEachCdbLength(int length) throws IOException {
        byte[] data = random(2 * BLOCK, length);
        assertThat(raw.run(WRITE, medium(length, true, 300, 2), data.length, data).status()).isZero();
        assertThat(serving.contents(300 * BLOCK, data.length)).isEqualTo(data);
        assertThat(raw.run(READ, medium(length, false, 300, 2), data.length, EMPTY).data()).isEqualTo(data);
    }

    private static byte[] medium(int length, boolean write, int lba, int blocks) {
        int opcode = write ? 2 : 0;
        return switch (length) {
            case 6 -> cdb(0x08 + opcode, 0, lba >> 8, lba, blocks);
            case 10 -> cdb(0x28 + opcode, 0, 0, 0, lba >> 8, lba, 0, 0, blocks);
            case 12 -> cdb(0xA8 + opcode, 0, 0, 0, lba >> 8, lba, 0, 0, 0, blocks);
            default -> RawInitiator.cdb16(0x88 + opcode, lba, blocks);
        };
    }

    @Test
    void read6WithABlockCountOfZeroReads256Blocks() throws IOException {
        assertThat(read(1 << 20, 0x08, 0, 0, 0, 0).data()).hasSize(1 << 20);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 12, 16})
    void transferOfZeroBlocksSucceeds(int length) throws IOException {
        assertThat(raw.run(NO_DATA, medium(length, false, 0, 0), 0, EMPTY).status()).isZero();
        assertThat(raw.run(NO_DATA, medium(length, true, BLOCKS, 0), 0, EMPTY).status()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0x35, 0x91})
    void synchronizeCacheOfTheWholeUnitSucceeds(int opcode) throws IOException {
        assertThat(raw.run(NO_DATA, cdb(opcode), 0, EMPTY).status()).isZero();
    }
}
