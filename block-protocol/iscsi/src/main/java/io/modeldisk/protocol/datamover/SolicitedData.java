package io.modeldisk.protocol.datamover;

import java.io.IOException;

/**
 * Sends the data that the target requests (R2T and Data-Out, RFC 7143 section 11.8). Only TCP needs this interface. Over iSER
 * and shared memory, the target moves the data.
 */
@FunctionalInterface
public interface SolicitedData {
    /** Waits for requests and sends the requested data, until the connection is closed. One separate thread runs this method. */
    void serveRequests(InitiatorDatamover.Listener listener) throws IOException;
}
