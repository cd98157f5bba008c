package io.modeldisk.protocol.scsi;

import io.modeldisk.platform.text.PlainText;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Builds the data of INQUIRY: standard data, and the VPD pages that every unit has (SPC-4 6.4 and 7.8, SBC-3 6.6). */
public final class InquiryData {
    /** The code of VPD page Supported VPD Pages. */
    public static final int SUPPORTED_PAGES = 0x00;

    /** The code of VPD page Unit Serial Number. */
    public static final int UNIT_SERIAL_NUMBER = 0x80;

    /** The code of VPD page Device Identification. */
    public static final int DEVICE_IDENTIFICATION = 0x83;

    /** The code of VPD page Block Limits. */
    public static final int BLOCK_LIMITS = 0xB0;

    /** The code of VPD page Block Device Characteristics. */
    public static final int BLOCK_DEVICE_CHARACTERISTICS = 0xB1;

    /** The T10 vendor identification. */
    public static final String VENDOR = "MODELDSK";

    private static final String REVISION = "0001";
    private static final int STANDARD_BYTES = 96;
    /** TPGS=01b: only the target changes the states of its port groups. The command SET TARGET PORT GROUPS is not supported. */
    private static final int IMPLICIT_ACCESS_STATES = 0x10;
    private static final int NO_DEVICE = 0x7F;
    private static final int[] COMMON_PAGES = {
        SUPPORTED_PAGES, UNIT_SERIAL_NUMBER, DEVICE_IDENTIFICATION, BLOCK_LIMITS, BLOCK_DEVICE_CHARACTERISTICS
    };

    private InquiryData() {}

    /** Returns the standard INQUIRY data of a disk. {@code portGroups} is true if the target has several target port groups. */
    public static byte[] standard(String product, boolean portGroups) {
        DataBuilder data = new DataBuilder(STANDARD_BYTES)
            .u8(2, 0x06) // SPC-4
            .u8(3, 0x12) // HISUP, response data format 2
            .u8(4, STANDARD_BYTES - 5)
            .u8(5, portGroups ? IMPLICIT_ACCESS_STATES : 0)
            .u8(7, 0x02) // CMDQUE
            .text(8, 8, VENDOR)
            .text(16, 16, product)
            .text(32, 4, REVISION);
        int[] versions = {0x00A0, 0x0460, 0x04C0, 0x0960}; // SAM-5, SPC-4, SBC-3, iSCSI
        for (int i = 0; i < versions.length; i++) {
            data.u16(58 + 2 * i, versions[i]);
        }
        return data.build();
    }

    /** Returns the standard INQUIRY data of a LUN without a logical unit. */
    public static byte[] noUnit() {
        return new DataBuilder(36).u8(0, NO_DEVICE).u8(2, 0x06).u8(3, 0x12).u8(4, 31).text(8, 8, VENDOR)
            .text(16, 16, "").text(32, 4, REVISION).build();
    }

    /** Returns the VPD page with the list of all pages, including the vendor-specific pages. */
    public static byte[] supportedPages(int[] vendorPages) {
        int count = COMMON_PAGES.length + vendorPages.length;
        DataBuilder data = new DataBuilder(4 + count).u16(2, count);
        for (int i = 0; i < count; i++) {
            data.u8(4 + i, i < COMMON_PAGES.length ? COMMON_PAGES[i] : vendorPages[i - COMMON_PAGES.length]);
        }
        return data.build();
    }

    /** Returns the VPD page with the serial number. */
    public static byte[] serialNumber(String serial) {
        return page(UNIT_SERIAL_NUMBER, serial.getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Returns the VPD page with the designators: T10 vendor ID, EUI-64, and the names of target port and target device. If the
     * target has several target port groups, the page also contains the relative target port and the group.
     *
     * @param portalGroupTag the iSCSI portal group tag, which is part of the name of the target port
     * @param portGroup the target port group and relative target port; 0 if the target has only one group
     */
    public static byte[] deviceIdentification(String product, String serial, long eui64, String targetName,
        int portalGroupTag, int portGroup) {
        DataBuilder designators = new DataBuilder(0);
        byte[] t10 = (VENDOR + PlainText.format("%-16s", product) + serial).getBytes(StandardCharsets.US_ASCII);
        designators.append(designator(0x02, 0x01, t10));
        designators.append(designator(0x01, 0x02, new DataBuilder(8).u64(0, eui64).build()));
        if (portGroup != 0) {
            byte[] number = new DataBuilder(4).u16(2, portGroup).build();
            designators.append(designator(0x51, 0x94, number)).append(designator(0x51, 0x95, number));
        }
        designators.append(
            designator(0x53, 0x98, scsiName(PlainText.format("%s,t,0x%04X", targetName, portalGroupTag))));
        designators.append(designator(0x53, 0xA8, scsiName(targetName)));
        return page(DEVICE_IDENTIFICATION, designators.build());
    }

    private static byte[] designator(int protocolAndCodeSet, int associationAndType, byte[] value) {
        return new DataBuilder(4)
            .u8(0, protocolAndCodeSet)
            .u8(1, associationAndType)
            .u8(3, value.length)
            .append(value)
            .build();
    }

    /** Encodes a SCSI name string: UTF-8 and a zero byte, padded to a multiple of four bytes (SPC-4 7.8.5.11). */
    private static byte[] scsiName(String name) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        return Arrays.copyOf(text, (text.length + 4) / 4 * 4);
    }

    /** Returns the VPD page with transfer limits in logical blocks; {@code maxWriteSame} is 0 for a unit without WRITE SAME. */
    public static byte[] blockLimits(int optimalGranularity, int maxTransfer, int optimalTransfer, int maxWriteSame) {
        return new DataBuilder(64)
            .u8(1, BLOCK_LIMITS)
            .u16(2, 60)
            .u8(4, maxWriteSame > 0 ? 1 : 0) // WSNZ: the unit refuses WRITE SAME of 0 blocks, which would mean all blocks
            .u16(6, optimalGranularity)
            .u32(8, maxTransfer)
            .u32(12, optimalTransfer)
            .u64(36, maxWriteSame)
            .build();
    }

    /** Returns the VPD page with the characteristics of a medium that does not rotate. */
    public static byte[] blockDeviceCharacteristics() {
        return new DataBuilder(64).u8(1, BLOCK_DEVICE_CHARACTERISTICS).u16(2, 60).u16(4, 1).build();
    }

    /** Returns a VPD page with a code and contents. */
    public static byte[] page(int code, byte[] contents) {
        return new DataBuilder(4).u8(1, code).u16(2, contents.length).append(contents).build();
    }
}
