package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.NO_DATA;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.protocol.engine.RawInitiator.cdb;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.End;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of unit attentions, with which a target reports events of a logical unit to an initiator (SAM-5 section 5.14). */
class UnitAttentionTest extends ServedTarget {
    private static final int RESET = 0x62903;
    private static final int CLEAR_TASK_SET = 4;
    private static final int LOGICAL_UNIT_RESET = 5;
    private static final int TARGET_WARM_RESET = 6;

    @Override
    @BeforeEach
    void serve() throws IOException {
        serving = new Serving();
        raw = RawInitiator.justLoggedIn(serving.server, "iqn.test:raw");
    }

    @Test
    void newSessionReportsPowerOnOnce() throws IOException {
        assertThat(raw.testUnitReady().senseCode()).isEqualTo(SenseCodes.POWER_ON);
        assertThat(raw.testUnitReady().status()).isZero();
    }

    @Test
    void sessionThatReplacesAnOldSessionReportsPowerOn() throws IOException {
        raw.testUnitReady();
        try (RawInitiator again = RawInitiator.justLoggedIn(serving.server, "iqn.test:raw")) {
            assertThat(again.testUnitReady().senseCode()).isEqualTo(SenseCodes.POWER_ON);
        }
    }

    @Test
    void writeThatEndsWithAUnitAttentionIsNotApplied() throws IOException {
        byte[] before = serving.fill(1);
        End end = raw.run(WRITE, RawInitiator.write(0, 1), BLOCK, new byte[BLOCK]);
        assertThat(end.senseCode()).isEqualTo(SenseCodes.POWER_ON);
        assertThat(serving.contents(0, BLOCK)).isEqualTo(Arrays.copyOf(before, BLOCK));
    }

    @Test
    void inquiryAndReportLunsDoNotClearAPendingUnitAttention() throws IOException {
        assertThat(raw.run(READ, cdb(0x12, 0, 0, 0, 96), 96, EMPTY).status()).isZero();
        assertThat(raw.run(READ, cdb(0xA0, 0, 0, 0, 0, 0, 0, 0, 0, 64), 64, EMPTY).status()).isZero();
        assertThat(raw.testUnitReady().senseCode()).isEqualTo(SenseCodes.POWER_ON);
    }

    @Test
    void requestSenseReturnsAndClearsAUnitAttention() throws IOException {
        End end = raw.run(READ, cdb(0x03, 0, 0, 0, 18), 18, EMPTY);
        assertThat(end.status()).isZero();
        assertThat(end.data()).startsWith(0x70, 0, 6).hasSize(18);
        assertThat(end.data()[12]).isEqualTo((byte) 0x29);
        assertThat(raw.testUnitReady().status()).isZero();
    }

    @Test
    void requestSenseReturnsAUnitAttentionInDescriptorFormat() throws IOException {
        assertThat(raw.run(READ, cdb(0x03, 1, 0, 0, 252), 252, EMPTY).data())
            .isEqualTo(new byte[]{0x72, 6, 0x29, 0, 0, 0, 0, 0});
    }

    @Test
    void commandToAMissingUnitDoesNotClearAPendingUnitAttention() throws IOException {
        assertThat(raw.end(raw.command(0x01, NO_DATA, 9, cdb(0), 0, EMPTY)).senseCode())
            .isEqualTo(SenseCodes.LUN_NOT_SUPPORTED);
        assertThat(raw.testUnitReady().senseCode()).isEqualTo(SenseCodes.POWER_ON);
    }

    @ParameterizedTest
    @ValueSource(ints = {LOGICAL_UNIT_RESET, TARGET_WARM_RESET})
    void resetOfALogicalUnitIsReportedOnceToEverySession(int function) throws IOException {
        raw.testUnitReady();
        try (RawInitiator other = serving.loginAs("iqn.test:other")) {
            raw.manage(function, RawInitiator.NONE);
            raw.manage(function, RawInitiator.NONE);
            for (RawInitiator each : new RawInitiator[]{raw, other}) {
                assertThat(each.testUnitReady().senseCode()).isEqualTo(RESET);
                assertThat(each.testUnitReady().status()).isZero();
            }
        }
    }

    @Test
    void powerOnUnitAttentionClearsAPendingUnitAttentionForAReset() throws IOException {
        try (RawInitiator other = RawInitiator.justLoggedIn(serving.server, "iqn.test:other")) {
            raw.manage(LOGICAL_UNIT_RESET, RawInitiator.NONE);
            assertThat(other.testUnitReady().senseCode()).isEqualTo(SenseCodes.POWER_ON);
            assertThat(other.testUnitReady().status()).isZero();
        }
    }

    /**
     * The Control mode page sets TAS, so an aborted command ends with TASK ABORTED, and no unit attention is needed (SAM-5
     * section 5.6).
     */
    @Test
    void clearTaskSetEstablishesNoUnitAttention() throws IOException {
        raw.testUnitReady();
        try (RawInitiator other = serving.loginAs("iqn.test:other")) {
            raw.manage(CLEAR_TASK_SET, RawInitiator.NONE);
            assertThat(other.testUnitReady().status()).isZero();
            byte[] control = other.run(READ, cdb(0x1A, 0x08, 0x0A, 0, 255), 255, EMPTY).data();
            assertThat(control[4 + 5] & 0x40).as("TAS").isEqualTo(0x40);
        }
    }
}
