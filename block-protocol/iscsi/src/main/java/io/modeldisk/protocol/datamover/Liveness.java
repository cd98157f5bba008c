package io.modeldisk.protocol.datamover;

/**
 * The times of the last activity at one end of a connection, for a watchdog. The unit is nanoseconds of the datamover's clock.
 *
 * @param receivingSinceNs the time when the datamover began to receive the current PDU, or 0 between PDUs
 * @param lastReceivedNs the time when the last PDU was received
 * @param sendingSinceNs the time when the datamover began to send the current PDU, or 0 if no PDU is being sent
 */
public record Liveness(long receivingSinceNs, long lastReceivedNs, long sendingSinceNs) {}
