package io.modeldisk.protocol.scsi;

/** Operation codes (SPC-4 annex, SBC-3 table 31). */
public final class ScsiOpcode {
    /** TEST UNIT READY. */
    public static final int TEST_UNIT_READY = 0x00;

    /** REQUEST SENSE. */
    public static final int REQUEST_SENSE = 0x03;

    /** READ (6). */
    public static final int READ_6 = 0x08;

    /** WRITE (6). */
    public static final int WRITE_6 = 0x0A;

    /** INQUIRY. */
    public static final int INQUIRY = 0x12;

    /** MODE SENSE (6). */
    public static final int MODE_SENSE_6 = 0x1A;

    /** READ CAPACITY (10). */
    public static final int READ_CAPACITY_10 = 0x25;

    /** READ (10). */
    public static final int READ_10 = 0x28;

    /** WRITE (10). */
    public static final int WRITE_10 = 0x2A;

    /** SYNCHRONIZE CACHE (10). */
    public static final int SYNCHRONIZE_CACHE_10 = 0x35;

    /** MODE SENSE (10). */
    public static final int MODE_SENSE_10 = 0x5A;

    /** READ (16). */
    public static final int READ_16 = 0x88;

    /** WRITE (16). */
    public static final int WRITE_16 = 0x8A;

    /** SYNCHRONIZE CACHE (16). */
    public static final int SYNCHRONIZE_CACHE_16 = 0x91;

    /** SERVICE ACTION IN (16): READ CAPACITY (16) and others. */
    public static final int SERVICE_ACTION_IN_16 = 0x9E;

    /** REPORT LUNS. */
    public static final int REPORT_LUNS = 0xA0;

    /** READ (12). */
    public static final int READ_12 = 0xA8;

    /** WRITE (12). */
    public static final int WRITE_12 = 0xAA;

    /** The service action READ CAPACITY (16). */
    public static final int READ_CAPACITY_16_ACTION = 0x10;

    /** The first of the codes that are left to vendors. */
    public static final int FIRST_VENDOR_SPECIFIC = 0xC0;

    private ScsiOpcode() {}
}
