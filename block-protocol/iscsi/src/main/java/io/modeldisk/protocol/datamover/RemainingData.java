package io.modeldisk.protocol.datamover;

import java.io.IOException;

/**
 * Fetches the data of writes that did not come with the command. Only a datamover that can leave data with the initiator has one:
 * over shared memory all data is in place when its command is.
 */
public non-sealed interface RemainingData extends DataArrival {
    /**
     * Get_Data: fetches the first {@code bytes} of a transfer's data, except what came with the command or comes unasked. The
     * listener is notified when all data has come. Any thread.
     */
    void get(DataTransfer transfer, int bytes) throws IOException;
}
