package io.modeldisk.protocol.datamover;

import java.io.IOException;

/**
 * The immediate data of a SCSI command, before the target has read this data. The engine checks the command first. Then the
 * engine calls exactly one method of this interface, before {@link TargetDatamover.Listener#commandNotify} returns.
 */
public interface ImmediateData {
    /**
     * Moves the data into the transfer of the command's task. Data beyond the transfer's length is dropped.
     *
     * @param transfer the transfer of the command's task
     * @param wanted true to keep the data; false if the command has already failed. If false, all data of the command is dropped,
     *     including unsolicited data that follows
     * @return {@link DataArrival.Complete} if the target has all data. {@link RemainingData} if more data follows; the listener
     *     is notified when the target has received all of it. A {@link DataError} if the data has a fault and no more data
     *     follows. The caller must reject the command after {@link DataError#DIGEST}.
     */
    DataArrival moveTo(DataTransfer transfer, boolean wanted) throws IOException;

    /** Drops the data of a command for which no task is started. Returns whether the data matches its digest. */
    boolean drop() throws IOException;
}
