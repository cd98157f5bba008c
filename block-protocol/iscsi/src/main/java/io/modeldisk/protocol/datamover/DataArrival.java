package io.modeldisk.protocol.datamover;

/** The state of a command's data after the target has received the command's PDU. */
public sealed interface DataArrival permits DataArrival.Complete, DataError, RemainingData {
    /** The target has received all data of the command, or the command has no data. */
    enum Complete implements DataArrival {
        /** The only value of this type. */
        COMPLETE
    }
}
