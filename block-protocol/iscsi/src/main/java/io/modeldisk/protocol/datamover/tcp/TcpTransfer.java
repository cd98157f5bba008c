package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;

/**
 * The state of a transfer over TCP: the amount of requested data and the sequence numbers of the PDUs. Each slot has one
 * object.
 */
final class TcpTransfer {
    /**
     * The number of bits of a target transfer tag that hold the slot. The other bits distinguish a stale tag from a valid tag.
     */
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
    /** The first fault of the data, or null if the data has no fault. */
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

    /**
     * Prepares the transfer for unsolicited data. If {@code fault} is not null, the data is dropped and the fault is then
     * reported.
     */
    void expectUnsolicited(DataError fault) {
        error = fault;
        unsolicited = true;
        fetching = true;
    }

    /** Whether the target has sent this target transfer tag in an R2T of this slot. */
    boolean hasGiven(int tag) {
        return generation - (tag >>> SLOT_BITS) >= 0;
    }

    /** Returns the slot of a target transfer tag. */
    static int slotOf(int tag) {
        return tag & (1 << SLOT_BITS) - 1;
    }

    int targetTransferTag() {
        return (generation & GENERATION_MASK) << SLOT_BITS | transfer.slot();
    }

    /** Whether a Data-Out PDU with these tags belongs to this transfer. */
    boolean answers(int initiatorTaskTag, int tag, boolean unasked) {
        return fetching
            && transfer.initiatorTaskTag() == initiatorTaskTag
            && (unasked ? unsolicited : tag == targetTransferTag());
    }
}
