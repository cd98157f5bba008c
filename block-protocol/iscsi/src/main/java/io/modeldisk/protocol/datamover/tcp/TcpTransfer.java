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
    /** A tag is valid if it belongs to one of this many newest transfers of its slot; so a late Data-Out PDU is recognized. */
    private static final int VALID_GENERATIONS = (GENERATION_MASK + 1) / 2;

    DataTransfer transfer;
    int grantedBytes;
    int requestedBytes;
    int nextDataSn;
    int r2tCount;
    int dataInCount;
    int sequenceBytes;
    boolean unsolicited;
    boolean fetching;
    /** The first fault that was found in the data, or null if there is none. */
    DataError error;

    /** The number of transfers that this slot has begun. */
    private long generation;

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
     * Prepares the transfer for unsolicited data. If {@code fault} is not null, the data is dropped, and the fault is reported
     * after the last data.
     */
    void expectUnsolicited(DataError fault) {
        error = fault;
        unsolicited = true;
        fetching = true;
    }

    /** True if this target transfer tag belongs to the current transfer of this slot, or to a recent transfer of this slot. */
    boolean hasGiven(int tag) {
        long age = generation - (tag >>> SLOT_BITS) & GENERATION_MASK;
        return age < Math.min(generation, VALID_GENERATIONS);
    }

    /** Returns the slot that a target transfer tag contains. */
    static int slotOf(int tag) {
        return tag & (1 << SLOT_BITS) - 1;
    }

    int targetTransferTag() {
        return (int) (generation & GENERATION_MASK) << SLOT_BITS | transfer.slot();
    }

    /** True if a Data-Out PDU with these tags belongs to this transfer. */
    boolean answers(int initiatorTaskTag, int tag, boolean unasked) {
        return fetching
            && transfer.initiatorTaskTag() == initiatorTaskTag
            && (unasked ? unsolicited : tag == targetTransferTag());
    }
}
