package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;

/** The state of a transfer over TCP: how much data was requested, and the numbers of its PDUs. One for each slot. */
final class TcpTransfer {
    /** The bits of a target transfer tag for the slot; the others distinguish a stale tag from a valid one. */
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
    /** The first fault of the data; null without a fault. */
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

    /** Unsolicited data was announced. With a {@code fault} it is dropped, and the fault is reported at its end. */
    void expectUnsolicited(DataError fault) {
        error = fault;
        unsolicited = true;
        fetching = true;
    }

    /** Whether a tag of this transfer's slot was ever issued. */
    boolean hasGiven(int tag) {
        return generation - (tag >>> SLOT_BITS) >= 0;
    }

    /** The slot of a tag. */
    static int slotOf(int tag) {
        return tag & (1 << SLOT_BITS) - 1;
    }

    int targetTransferTag() {
        return (generation & GENERATION_MASK) << SLOT_BITS | transfer.slot();
    }

    /** Whether a Data-Out with these tags belongs to this transfer. */
    boolean answers(int initiatorTaskTag, int tag, boolean unasked) {
        return fetching
            && transfer.initiatorTaskTag() == initiatorTaskTag
            && (unasked ? unsolicited : tag == targetTransferTag());
    }
}
