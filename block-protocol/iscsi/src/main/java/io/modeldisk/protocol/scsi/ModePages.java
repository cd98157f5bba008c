package io.modeldisk.protocol.scsi;

import io.modeldisk.platform.text.PlainText;

/** Builds the data of MODE SENSE (SPC-4 6.11 and 7.5, SBC-3 6.5). No mode page can be changed or saved. */
public final class ModePages {
    private static final int CACHING = 0x08;
    private static final int CONTROL = 0x0A;
    private static final int INFORMATIONAL_EXCEPTIONS = 0x1C;
    private static final int ALL = 0x3F;
    private static final int ALL_SUBPAGES = 0xFF;
    private static final int CHANGEABLE_VALUES = 1;
    private static final int SAVED_VALUES = 3;

    private ModePages() {}

    /** Returns the data of MODE SENSE (6) or MODE SENSE (10). The operation code of the CDB selects the format. */
    public static byte[] sense(Cdb cdb, long capacityBlocks, int blockBytes) throws ScsiException {
        boolean six = cdb.opcode() == ScsiCommand.MODE_SENSE_6.opcode();
        boolean withoutDescriptor = (cdb.u8(1) & 0x08) != 0;
        int control = cdb.u8(2) >> 6;
        int page = cdb.u8(2) & 0x3F;
        if (control == SAVED_VALUES) {
            throw new ScsiException(Sense.of(0x5, 0x39, 0x00).at(2), "saved mode pages are not supported");
        }
        DataBuilder data = new DataBuilder(six ? 4 : 8);
        int descriptorBytes = withoutDescriptor ? 0 : 8;
        if (!withoutDescriptor) {
            data.append(new DataBuilder(8).u32(0, Math.min(capacityBlocks, 0xFFFFFFFFL)).u32(4, blockBytes).build());
        }
        byte[] pages = pages(page, cdb.u8(3), control == CHANGEABLE_VALUES);
        if (pages.length == 0) {
            boolean subpage = pages(page, 0, false).length > 0;
            throw new ScsiException(subpage ? Sense.invalidFieldInCdb(3) : Sense.invalidFieldInCdb(2, 5),
                PlainText.format("mode page %02Xh with subpage %02Xh does not exist", page, cdb.u8(3)));
        }
        data.append(pages);
        // The bit DPOFUA: reads and writes accept DPO and FUA, which have no effect because there is no cache.
        if (six) {
            data.u8(0, data.length() - 1).u8(2, 0x10).u8(3, descriptorBytes);
        } else {
            data.u16(0, data.length() - 2).u8(3, 0x10).u16(6, descriptorBytes);
        }
        return data.build();
    }

    private static byte[] pages(int page, int subpage, boolean changeable) {
        DataBuilder data = new DataBuilder(0);
        if (subpage != 0 && subpage != ALL_SUBPAGES) {
            return data.build();
        }
        if (page == CACHING || page == ALL) {
            data.append(new DataBuilder(20).u8(0, CACHING).u8(1, 18).build());
        }
        if (page == CONTROL || page == ALL) {
            // Byte 3: SIMPLE commands may be reordered freely, because different blocks are independent.
            // Byte 5, TAS: if another nexus aborts a task, the initiator of the task receives the status TASK ABORTED.
            data.append(new DataBuilder(12).u8(0, CONTROL).u8(1, 10).u8(3, changeable ? 0 : 0x10)
                .u8(5, changeable ? 0 : 0x40).build());
        }
        if (page == INFORMATIONAL_EXCEPTIONS || page == ALL) {
            data.append(new DataBuilder(12).u8(0, INFORMATIONAL_EXCEPTIONS).u8(1, 10).build());
        }
        return data.build();
    }
}
