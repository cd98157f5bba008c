package io.modeldisk.protocol.datamover;

import java.io.IOException;

/**
 * The sending of data that the target requests (R2T and Data-Out, RFC 7143 section 11.8). Only TCP has it: over iSER and shared
 * memory the target moves the data.
 */
@FunctionalInterface
public interface SolicitedData {
    /** Sends the requested data until the connection is closed. For one thread of its own, which waits most of the time. */
    void serveRequests(InitiatorDatamover.Listener listener) throws IOException;
}
