package io.modeldisk.protocol.datamover;

/** The state of a command's data when the command's PDU has been received. */
public sealed interface DataArrival permits DataArrival.Complete, DataError, RemainingData {
    /** All data is in place, or the command brings none. */
    enum Complete implements DataArrival {
        /** The only value. */
        COMPLETE
    }
}
