package io.modeldisk.protocol.datamover;

/** A fault in the data of a write. The command fails, but the connection stays open (RFC 7143 section 11.4.7.2). */
public enum DataError implements DataArrival {
    /** The data of a PDU does not match its digest. */
    DIGEST,
    /** Data-Out PDUs are missing or out of order. */
    OUT_OF_ORDER,
    /** The initiator sent less or more data than the target requested. */
    INCORRECT_AMOUNT,
    /** The data is correct, but its command had already failed. The target has received and dropped all of the data. */
    UNWANTED,
    /** The initiator sent more unsolicited data than the login allows. */
    UNEXPECTED_UNSOLICITED_DATA,
    /** The memory that the command refers to is not registered or is too short. */
    WRONG_MEMORY
}
