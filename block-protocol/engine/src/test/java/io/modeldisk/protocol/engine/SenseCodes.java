package io.modeldisk.protocol.engine;

/** The sense codes that tests expect (SPC-4 annex F). Each number consists of sense key, additional sense code and qualifier. */
final class SenseCodes {
    static final int INTERNAL_TARGET_FAILURE = 0x44400;
    static final int INVALID_OPCODE = 0x52000;
    static final int LBA_OUT_OF_RANGE = 0x52100;
    static final int INVALID_FIELD = 0x52400;
    static final int LUN_NOT_SUPPORTED = 0x52500;
    static final int SAVING_NOT_SUPPORTED = 0x53900;
    static final int POWER_ON = 0x62900;
    static final int ACCESS_STATE_CHANGED = 0x62A06;
    static final int TRANSITIONING = 0x2040A;
    static final int STANDBY = 0x2040B;
    static final int UNAVAILABLE = 0x2040C;
    static final int UNEXPECTED_UNSOLICITED_DATA = 0xB0C0C;
    static final int INCORRECT_AMOUNT_OF_DATA = 0xB0C0D;
    static final int PROTOCOL_SERVICE_CRC_ERROR = 0xB4705;

    private SenseCodes() {}
}
