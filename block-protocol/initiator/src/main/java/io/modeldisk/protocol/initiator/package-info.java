/**
 * The initiator: sessions with targets, their logins, the commands in flight, and the choice of the datamover. It knows no models
 * and no rounds beyond the command descriptor blocks and the sense data that carry them.
 */
package io.modeldisk.protocol.initiator;
