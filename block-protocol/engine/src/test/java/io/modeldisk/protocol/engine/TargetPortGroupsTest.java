package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.NO_DATA;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.protocol.engine.RawInitiator.cdb;
import static io.modeldisk.protocol.scsi.AccessState.ACTIVE;
import static io.modeldisk.protocol.scsi.AccessState.STANDBY;
import static io.modeldisk.protocol.scsi.AccessState.TRANSITIONING;
import static io.modeldisk.protocol.scsi.AccessState.UNAVAILABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.engine.RawInitiator.End;
import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.scsi.AccessState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of asymmetric logical unit access (SPC-4 5.15). The target has two groups, and this process is the second group. */
class TargetPortGroupsTest extends ServedTarget {
    private static final byte[] READ_10 = cdb(0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
    private static final byte[] WRITE_10 = cdb(0x2A, 0, 0, 0, 0, 0, 0, 0, 1, 0);

    private final TargetPortGroups groups = new TargetPortGroups(2, 2, ACTIVE);

    @Override
    @BeforeEach
    void serve() throws IOException {
        serving = new Serving(groups);
        raw = serving.login();
    }

    /** Changes the state of the second group and clears the resulting unit attention. */
    private void become(AccessState own) throws IOException {
        if (own != groups.state()) {
            groups.become(own);
            assertThat(raw.testUnitReady().senseCode()).isEqualTo(SenseCodes.ACCESS_STATE_CHANGED);
        }
    }

    private static End report(RawInitiator initiator, int format, int room) throws IOException {
        return initiator.run(READ, cdb(0xA3, format << 5 | 0x0A, 0, 0, 0, 0, 0, 0, room >> 8, room), room, EMPTY);
    }

    private static int senseOf(AccessState state) {
        return switch (state) {
            case ACTIVE -> 0;
            case STANDBY -> SenseCodes.STANDBY;
            case UNAVAILABLE -> SenseCodes.UNAVAILABLE;
            case TRANSITIONING -> SenseCodes.TRANSITIONING;
        };
    }

    @ParameterizedTest
    @EnumSource
    void commandsThatDescribeTheTargetRunInEveryState(AccessState state) throws IOException {
        become(state);
        assertThat(raw.run(READ, cdb(0x12, 0, 0, 0, 96), 96, EMPTY).data()).as("INQUIRY").hasSize(96);
        assertThat(raw.run(READ, cdb(0x12, 1, 0xC0, 0, 96), 96, EMPTY).status()).as("INQUIRY, VPD page C0h").isZero();
        assertThat(raw.run(READ, cdb(0xA0, 0, 0, 0, 0, 0, 0, 0, 0, 64), 64, EMPTY).data()).as("REPORT LUNS")
            .hasSize(16);
        assertThat(report(raw, 0, 64).data()).as("REPORT TARGET PORT GROUPS").hasSize(state == ACTIVE ? 28 : 16);
        byte[] sense = raw.run(READ, cdb(0x03, 0, 0, 0, 18), 18, EMPTY).data();
        assertThat((sense[2] & 0xF) << 16 | sense[12] << 8 | sense[13]).as("REQUEST SENSE").isEqualTo(senseOf(state));
    }

    @ParameterizedTest
    @CsvSource({"0x1A, 0x3F", "0x5A, 0x3F", "0x25, 0", "0x9E, 0", "0xA3, 0"})
    void commandsThatDescribeTheUnitRunInStandbyAndInNoOtherInactiveState(int opcode, int page) throws IOException {
        byte[] cdb = switch (opcode) {
            case 0x1A -> cdb(opcode, 0, page, 0, 64);
            case 0x5A -> cdb(opcode, 0, page, 0, 0, 0, 0, 0, 64);
            case 0x9E -> cdb(opcode, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64);
            case 0xA3 -> cdb(opcode, 0x0D, 0, 0, 0, 0, 0, 0, 0, 64);
            default -> cdb(opcode);
        };
        become(STANDBY);
        assertThat(raw.run(READ, cdb, 64, EMPTY).status()).isZero();
        for (AccessState state : List.of(UNAVAILABLE, TRANSITIONING)) {
            become(state);
            assertThat(raw.run(READ, cdb, 64, EMPTY).senseCode()).isEqualTo(senseOf(state));
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "ACTIVE")
    void commandsOnTheMediumAndVendorCommandsAreRefusedUnlessTheGroupIsActive(AccessState state) throws IOException {
        become(state);
        int expected = senseOf(state);
        assertThat(raw.testUnitReady().senseCode()).as("TEST UNIT READY").isEqualTo(expected);
        assertThat(raw.run(READ, READ_10, BLOCK, EMPTY).senseCode()).as("READ (10)").isEqualTo(expected);
        assertThat(raw.run(WRITE, WRITE_10, BLOCK, new byte[BLOCK]).senseCode()).as("WRITE (10)").isEqualTo(expected);
        assertThat(raw.run(NO_DATA, cdb(0x91), 0, EMPTY).senseCode()).as("SYNCHRONIZE CACHE (16)")
            .isEqualTo(expected);
        assertThat(raw.run(NO_DATA, cdb(0x34), 0, EMPTY).senseCode()).as("PRE-FETCH (10)").isEqualTo(expected);
        assertThat(raw.run(NO_DATA, cdb(0x2F), 0, EMPTY).senseCode()).as("VERIFY (10)").isEqualTo(expected);
        assertThat(raw.run(READ, cdb(0xC0, 0, 7), 8, EMPTY).senseCode()).as("a vendor command").isEqualTo(expected);
        become(ACTIVE);
        assertThat(raw.testUnitReady().status()).isZero();
        assertThat(raw.run(READ, READ_10, BLOCK, EMPTY).status()).isZero();
    }

    @Test
    void refusedWriteChangesNoData() throws IOException {
        byte[] before = serving.fill(1);
        become(STANDBY);
        raw.run(WRITE, WRITE_10, BLOCK, new byte[BLOCK]);
        assertThat(serving.contents(0, BLOCK)).isEqualTo(Arrays.copyOf(before, BLOCK));
    }

    @Test
    void stateChangeCausesOneUnitAttentionForEachNexus() throws IOException {
        try (RawInitiator other = serving.loginAs("iqn.test:other")) {
            groups.become(STANDBY);
            for (RawInitiator each : List.of(raw, other)) {
                assertThat(each.testUnitReady().senseCode()).isEqualTo(SenseCodes.ACCESS_STATE_CHANGED);
                assertThat(each.testUnitReady().senseCode()).isEqualTo(SenseCodes.STANDBY);
            }
        }
    }

    @Test
    void changeToTheSameStateCausesNoUnitAttention() throws IOException {
        groups.become(ACTIVE);
        assertThat(raw.testUnitReady().status()).isZero();
    }

    @Test
    void parkedTaskEndsWithTheSenseOfTheNewState() throws IOException {
        int tag = parkedRead(raw);
        groups.become(STANDBY);
        assertThat(raw.end(tag).senseCode()).isEqualTo(SenseCodes.STANDBY);
        assertThat(serving.target.unit.parked).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "ACTIVE")
    void parkedWriteThatHasChangedTheMediumDoesNotEndWithTheSenseOfTheNewState(AccessState state) throws IOException {
        serving.target.unit.changedByParked = true;
        int tag = parkedWrite(raw);
        groups.become(state);
        assertThat(raw.end(tag).senseCode()).isEqualTo(SenseCodes.INTERNAL_TARGET_FAILURE);
        assertThat(serving.target.unit.parked).isEmpty();
    }

    @Test
    void writeThatWaitsForItsDataEndsWithTheSenseOfTheNewState() throws IOException {
        byte[] before = serving.fill(2);
        int tag = raw.command(WRITE, WRITE_10, BLOCK, EMPTY);
        Reply r2t = raw.receive();
        groups.become(UNAVAILABLE);
        raw.dataOut(tag, r2t.targetTransferTag(), 0, 0, new byte[BLOCK], true);
        assertThat(raw.end(tag).senseCode()).isEqualTo(SenseCodes.UNAVAILABLE);
        assertThat(serving.contents(0, BLOCK)).isEqualTo(Arrays.copyOf(before, BLOCK));
    }

    @Test
    void activeGroupReportsThatTheOtherGroupsAreInStandby() throws IOException {
        assertThat(report(raw, 0, 64).data()).containsExactly(
            0, 0, 0, 24,
            0x02, 0x8D, 0, 1, 0, 2, 0, 1, 0, 0, 0, 1,
            0x00, 0x8D, 0, 2, 0, 2, 0, 1, 0, 0, 0, 2);
    }

    @ParameterizedTest
    @CsvSource({"STANDBY, 2", "UNAVAILABLE, 3", "TRANSITIONING, 15"})
    void groupThatIsNotActiveReportsOnlyItself(AccessState state, int code) throws IOException {
        become(state);
        assertThat(report(raw, 0, 64).data()).containsExactly(
            0, 0, 0, 12,
            code, 0x8D, 0, 2, 0, 2, 0, 1, 0, 0, 0, 2);
    }

    @Test
    void reportHasAnExtendedHeaderOnRequest() throws IOException {
        byte[] data = report(raw, 1, 64).data();
        assertThat(data).hasSize(32).startsWith(0, 0, 0, 28, 0x10, 0, 0, 0, 0x02, 0x8D, 0, 1);
        assertThat(Arrays.copyOfRange(data, 8, 32)).isEqualTo(Arrays.copyOfRange(report(raw, 0, 64).data(), 4, 28));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 8, 27, 28, 29})
    void reportCutToTheAllocationLengthStatesItsFullLength(int room) throws IOException {
        End end = report(raw, 0, room);
        assertThat(end.status()).isZero();
        assertThat(end.data()).hasSize(Math.min(room, 28));
        if (room >= 4) {
            assertThat(ByteBuffer.wrap(end.data()).getInt(0)).isEqualTo(24);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 5, 7})
    void reportInAReservedFormatIsRefusedWithAFieldPointer(int format) throws IOException {
        End end = report(raw, format, 64);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
        assertThat(end.fieldPointer()).isEqualTo(0xCF0001);
    }

    @Test
    void inquiryReportsImplicitAccessStatesOnlyIfTheTargetHasSeveralGroups() throws IOException {
        assertThat(raw.run(READ, cdb(0x12, 0, 0, 0, 96), 96, EMPTY).data()[5]).isEqualTo((byte) 0x10);
        try (Serving alone = new Serving(); RawInitiator initiator = alone.login()) {
            assertThat(initiator.run(READ, cdb(0x12, 0, 0, 0, 96), 96, EMPTY).data()[5]).isZero();
        }
    }

    @Test
    void portGroupReportIsSupportedOnlyIfTheTargetHasSeveralGroups() throws IOException {
        byte[] query = cdb(0xA3, 0x0C, 2, 0xA3, 0, 0x0A, 0, 0, 0, 64);
        assertThat(raw.run(READ, query, 64, EMPTY).data()).containsExactly(
            0, 3, 0, 12, 0xA3, 0xEA, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0);
        try (Serving alone = new Serving(); RawInitiator initiator = alone.login()) {
            assertThat(initiator.run(READ, query, 64, EMPTY).data()).containsExactly(0, 1, 0, 0);
            assertThat(report(initiator, 0, 64).senseCode()).isEqualTo(SenseCodes.INVALID_FIELD);
        }
    }

    @ParameterizedTest
    @CsvSource({"3, 2", "0, 2", "1, 0", "1, 17"})
    void groupNumberMustBelongToOneOfAtMost16Groups(int own, int count) {
        assertThatThrownBy(() -> new TargetPortGroups(own, count, ACTIVE)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("target port group " + own + "/" + count + " must be I/N");
    }
}
