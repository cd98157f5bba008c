package io.modeldisk.protocol.datamover;

/** A fault of a write's data. It ends the command but not its connection (RFC 7143 section 11.4.7.2). */
public enum DataError implements DataArrival {
    /** The data of a PDU does not match its digest. */
    DIGEST,
    /** Data-Out PDUs are missing or out of order. */
    OUT_OF_ORDER,
    /** Less or more data than was asked for. */
    INCORRECT_AMOUNT,
    /** No fault of the data: its command had failed before, and all of the data has come now. */
    UNWANTED,
    /** More unsolicited data than was agreed on. */
    UNEXPECTED_UNSOLICITED_DATA,
    /** The command's steering tag names no memory of this session, or too little of it. */
    WRONG_MEMORY
}
