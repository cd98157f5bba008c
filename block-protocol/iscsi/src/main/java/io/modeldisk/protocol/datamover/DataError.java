package io.modeldisk.protocol.datamover;

/** What can be wrong with the data of a write, which ends the command but not its connection (RFC 7143 section 11.4.7.2). */
public enum DataError {
    /** The data of a PDU does not match its digest. */
    DIGEST,
    /** Data-Out PDUs are missing or came out of their order. */
    OUT_OF_ORDER,
    /** Less or more data than was asked for. */
    INCORRECT_AMOUNT,
    /** None is; but its command had failed before it came. */
    UNWANTED,
    /** More data came unasked than was agreed on. */
    UNEXPECTED_UNSOLICITED_DATA,
    /** The command's steering tag names no memory of this session, or not enough of it. */
    WRONG_MEMORY
}
