package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;

/** What TCP needs to know of a transfer in progress: how far data was asked for, and the numbers of its PDUs. One a slot. */
final class TcpTransfer {
    /** Slots fit into this many bits of a target transfer tag; the rest tells a stale tag from a live one. */
    private static final int SLOT_BITS = 12;
    private static final int GENERATION_MASK = 0x7FFFF;

    DataTransfer transfer;
    int grantedBytes;
    int requestedBytes;
    int nextDataSn;
    int r2tCount;
    int dataInCount;
    int sequenceBytes;
    boolean unsolicited;
    boolean fetching;
    /** What was wrong with the data first; null as long as nothing was. */
    DataError error;

    private int generation;

    void begin(DataTransfer begun) {
        transfer = begun;
        generation++;
        grantedBytes = 0;
        requestedBytes = 0;
        nextDataSn = 0;
        r2tCount = 0;
        dataInCount = 0;
        sequenceBytes = 0;
        unsolicited = false;
        fetching = false;
        error = null;
    }

    /** The command announced data that comes unasked; with {@code fault} it is dropped, and the fault is reported at its end. */
    void expectUnsolicited(DataError fault) {
        error = fault;
        unsolicited = true;
        fetching = true;
    }

    /** Whether a tag for this transfer's slot was ever given out. */
    boolean hasGiven(int tag) {
        return generation - (tag >>> SLOT_BITS) >= 0;
    }

    /** The slot that a tag is for. */
    static int slotOf(int tag) {
        return tag & (1 << SLOT_BITS) - 1;
    }

    int targetTransferTag() {
        return (generation & GENERATION_MASK) << SLOT_BITS | transfer.slot();
    }

    /** Whether a Data-Out with these tags is for this transfer. */
    boolean answers(int initiatorTaskTag, int tag, boolean unasked) {
        return fetching
            && transfer.initiatorTaskTag() == initiatorTaskTag
            && (unasked ? unsolicited : tag == targetTransferTag());
    }
}
