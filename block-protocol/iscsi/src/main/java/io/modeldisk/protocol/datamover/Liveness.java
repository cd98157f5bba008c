package io.modeldisk.protocol.datamover;

/**
 * What a watchdog has to know of one end of a connection, at one moment. The times are those of the datamover's clock.
 *
 * @param receivingSinceNs when the PDU began that is being received; 0 between PDUs
 * @param lastReceivedNs when the last PDU came
 * @param sendingSinceNs when the PDU began that is being sent; 0 if none is
 */
public record Liveness(long receivingSinceNs, long lastReceivedNs, long sendingSinceNs) {}
