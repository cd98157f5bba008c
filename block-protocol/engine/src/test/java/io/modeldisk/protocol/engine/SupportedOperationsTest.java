package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.NO_DATA;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.cdb;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.End;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the commands and the task management functions that a logical unit reports (SPC-4 sections 6.35 and 6.36) with its
 * behaviour.
 */
class SupportedOperationsTest extends SharedTarget {
    private static final int SUPPORTED = 3;
    private static final int ROOM = 4096;

    private End report(int options, int opcode, int serviceAction) throws IOException {
        return raw.run(READ, cdb(0xA3, 0x0C, options, opcode, serviceAction >> 8, serviceAction, 0, 0, ROOM >> 8, 0),
            ROOM, EMPTY);
    }

    private byte[] one(int options, int opcode, int serviceAction) throws IOException {
        return report(options, opcode, serviceAction).data();
    }

    /**
     * Returns operation code, service action and CDB length of each reported command. The service action is -1 if a command has
     * no service action.
     */
    private List<int[]> all() throws IOException {
        ByteBuffer data = ByteBuffer.wrap(report(0, 0, 0).data());
        assertThat(data.getInt(0)).isEqualTo(data.capacity() - 4);
        List<int[]> commands = new ArrayList<>();
        for (int at = 4; at < data.capacity(); at += 8) {
            boolean action = (data.get(at + 5) & 1) != 0;
            commands.add(new int[]{data.get(at) & 0xFF, action ? data.getShort(at + 2) : -1, data.getShort(at + 6)});
        }
        return commands;
    }

    @Test
    void logicalUnitAcceptsExactlyTheReportedOperationCodes() throws IOException {
        List<Integer> listed = all().stream().map(command -> command[0]).toList();
        for (int opcode = 0; opcode < 256; opcode++) {
            byte[] cdb = cdb(opcode);
            if (opcode == 0x9E) {
                cdb[1] = 0x10;
            } else if (opcode == 0xA3) {
                cdb[1] = 0x0C;
            }
            End end = raw.run(NO_DATA, cdb, 0, EMPTY);
            boolean refused = end.status() == 2 && end.senseCode() == SenseCodes.INVALID_OPCODE;
            assertThat(refused).as("operation code %02Xh is refused", opcode).isEqualTo(!listed.contains(opcode));
        }
    }

    @Test
    void cdbBitOutsideTheUsageDataIsRefusedWithAFieldPointer() throws IOException {
        for (int[] command : all()) {
            byte[] usage = one(command[1] < 0 ? 1 : 2, command[0], Math.max(0, command[1]));
            for (int at = 1; at < command[2]; at++) {
                for (int bit = 0; bit < 8; bit++) {
                    int known = usage[4 + at] | (at == 1 && command[1] >= 0 ? 0x1F : 0) | ignored(command[0], at);
                    if ((known >> bit & 1) == 0) {
                        byte[] cdb = cdb(command[0], Math.max(0, command[1]));
                        cdb[at] |= (byte) (1 << bit);
                        End end = raw.run(NO_DATA, cdb, 0, EMPTY);
                        String what = "bit %d of byte %d of %02Xh".formatted(bit, at, command[0]);
                        assertThat(end.senseCode()).as(what).isEqualTo(SenseCodes.INVALID_FIELD);
                        assertThat(end.fieldPointer()).as(what).isEqualTo(0xC80000 | bit << 16 | at);
                    }
                }
            }
        }
    }

    /** Returns the bits of a CDB byte that belong to the GROUP NUMBER field. The target ignores this field. */
    private static int ignored(int opcode, int at) {
        boolean medium = opcode < 0xC0 && opcode != 0x25 && opcode != 0x5A && opcode != 0x9E && opcode != 0xA0
            && opcode != 0xA3;
        int[] fields = {-1, 6, 6, -1, 14, 10, -1, -1};
        return medium && at == fields[opcode >> 5] ? 0x1F : 0;
    }

    @ParameterizedTest
    @CsvSource({"0x00, 6", "0x28, 10", "0xA8, 12", "0x88, 16", "0x93, 16", "0x2F, 10"})
    void reportOfOneCommandContainsItsCdbUsage(int opcode, int length) throws IOException {
        byte[] data = one(1, opcode, 0);
        assertThat(data).hasSize(4 + length);
        assertThat(data[1]).isEqualTo((byte) SUPPORTED);
        assertThat(ByteBuffer.wrap(data).getShort(2)).isEqualTo((short) length);
        assertThat(data[4]).isEqualTo((byte) opcode);
    }

    @Test
    void cdbUsageContainsTheServiceActionOfTheCommand() throws IOException {
        byte[] data = one(2, 0x9E, 0x10);
        assertThat(data).hasSize(4 + 16);
        assertThat(data[5]).isEqualTo((byte) 0x10);
    }

    @ParameterizedTest
    @CsvSource({"1, 0x9E, 0", "2, 0x28, 0", "2, 0xC0, 0", "4, 0x28, 0", "7, 0x28, 0"})
    void reportingOptionThatDoesNotFitTheOperationCodeIsRefused(int options, int opcode, int action)
        throws IOException {
        End end = report(options, opcode, action);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
        assertThat(end.fieldPointer()).isEqualTo(0xCA0002);
    }

    @ParameterizedTest
    @CsvSource({"3, 0x28, 0, 3", "3, 0x28, 1, 1", "3, 0x9E, 16, 3", "3, 0x9E, 17, 1", "2, 0x9E, 18, 1", "1, 0x5F, 0, 1",
        "2, 0x83, 0, 1", "1, 0x42, 0, 1", "1, 0x89, 0, 1", "1, 0xC0, 0, 5", "3, 0xC0, 0, 5", "3, 0xC0, 1, 1",
        "1, 0xC1, 0, 1"})
    void reportStatesWhetherACommandIsSupported(int options, int opcode, int action, int support) throws IOException {
        assertThat(one(options, opcode, action)[1]).isEqualTo((byte) support);
    }

    @Test
    void reportContainsCommandTimeoutsOnRequest() throws IOException {
        byte[] one = one(0x81, 0x28, 0);
        assertThat(one).hasSize(4 + 10 + 12);
        assertThat(one[1] & 0xFF).as("CTDP bit and the support value").isEqualTo(0x83);
        assertThat(ByteBuffer.wrap(one).getShort(14)).isEqualTo((short) 10);
        byte[] all = report(0x80, 0, 0).data();
        assertThat(all.length - 4).isEqualTo(all().size() * (8 + 12));
        assertThat(all[4 + 5] & 0x02).as("CTDP").isEqualTo(2);
    }

    @Test
    void commandListCutToTheAllocationLengthStatesItsFullLength() throws IOException {
        byte[] cut = raw.run(READ, cdb(0xA3, 0x0C, 0, 0, 0, 0, 0, 0, 0, 20), 20, EMPTY).data();
        assertThat(cut).hasSize(20);
        assertThat(ByteBuffer.wrap(cut).getInt(0)).isEqualTo(all().size() * 8);
    }

    @Test
    void commandWithAnUnknownServiceActionIsRefusedWithAFieldPointer() throws IOException {
        for (int[] pair : new int[][]{{0xA3, 0x0A}, {0x9E, 0x12}}) {
            End end = raw.run(READ, cdb(pair[0], pair[1]), ROOM, EMPTY);
            assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
            assertThat(end.fieldPointer()).isEqualTo(0xCC0001);
        }
    }

    /** {@link TaskManagementTest#eachTaskManagementFunctionGetsItsResponseCode} checks that the reported functions work. */
    @Test
    void reportListsTheSupportedTaskManagementFunctions() throws IOException {
        byte[] data = raw.run(READ, cdb(0xA3, 0x0D, 0, 0, 0, 0, 0, 0, 0, 4), 4, EMPTY).data();
        assertThat(data).isEqualTo(new byte[]{(byte) 0xDA, 0, 0, 0});
    }

    @Test
    void taskManagementReportHasTheExtendedFormatOnRequest() throws IOException {
        byte[] data = raw.run(READ, cdb(0xA3, 0x0D, 0x80, 0, 0, 0, 0, 0, 0, 64), 64, EMPTY).data();
        assertThat(data).hasSize(16).startsWith(0xDA, 0, 0, 12);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void taskManagementReportWithATooSmallAllocationLengthIsRefused(int room) throws IOException {
        End end = raw.run(READ, cdb(0xA3, 0x0D, 0, 0, 0, 0, 0, 0, 0, room), 64, EMPTY);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
        assertThat(end.fieldPointer()).isEqualTo(0xC00006);
    }

    @Test
    void vendorCommandReturnsItsParameterData() throws IOException {
        assertThat(raw.run(READ, cdb(0xC0, 0, 77), 8, EMPTY).data()).containsExactly(77);
    }

    @Test
    void unsupportedCommandsFailWithInvalidOperationCode() throws IOException {
        // The codes belong to UNMAP, COMPARE AND WRITE, ORWRITE, WRITE ATOMIC, PERSISTENT RESERVE IN and OUT, RESERVE, RELEASE,
        // EXTENDED COPY, MODE SELECT, START STOP UNIT, READ DEFECT DATA, LOG SENSE, FORMAT UNIT and SANITIZE, in this order.
        int[] opcodes = {0x42, 0x89, 0x8B, 0x9C, 0x5E, 0x5F, 0x16, 0x17, 0x83, 0x15, 0x55, 0x1B, 0x37, 0x4D, 0x04,
            0x48};
        for (int opcode : opcodes) {
            End end = raw.run(NO_DATA, cdb(opcode), 0, EMPTY);
            assertThat(end.senseCode()).as("operation code %02Xh", opcode).isEqualTo(SenseCodes.INVALID_OPCODE);
            assertThat(end.fieldPointer()).isEqualTo(0xC00000);
        }
    }
}
