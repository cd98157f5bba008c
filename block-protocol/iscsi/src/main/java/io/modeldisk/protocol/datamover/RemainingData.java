package io.modeldisk.protocol.datamover;

import java.io.IOException;

/**
 * Fetches the data of a write that the initiator did not send with the command. Over shared memory, no data remains: the target
 * can read all data as soon as it has received the command.
 */
public non-sealed interface RemainingData extends DataArrival {
    /**
     * Fetches a transfer's data up to offset {@code bytes}, except immediate and unsolicited data (Get_Data of RFC 5047). The
     * listener is notified when the target has received all data. Any thread may call this method.
     */
    void get(DataTransfer transfer, int bytes) throws IOException;
}
