package io.modeldisk.protocol.datamover;

import java.io.IOException;

/**
 * The data segment of a command's own PDU, not read yet: the engine looks at the command first and then calls one of the two
 * methods, once, before {@link TargetDatamover.Listener#commandNotify} returns.
 */
public interface ImmediateData {
    /**
     * Moves the data into the transfer of the command's task. Data beyond the transfer's length is dropped.
     *
     * @param transfer begun for this command
     * @param wanted false if the command has failed already: then its data is dropped, also the data that the command announced
     *     to send unasked
     * @return {@link DataArrival.Complete} if all data is in place; {@link RemainingData} if more has to come, of which the
     *     listener is notified; or an error, after which no more data comes. {@link DataError#DIGEST} means that the command has
     *     to be rejected.
     */
    DataArrival moveTo(DataTransfer transfer, boolean wanted) throws IOException;

    /** Drops the data of a command that gets no task. Returns false if the data does not match its digest. */
    boolean drop() throws IOException;
}
