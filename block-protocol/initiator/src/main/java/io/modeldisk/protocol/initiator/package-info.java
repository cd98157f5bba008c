/**
 * The initiator: sessions with targets, their logins, the commands in flight, and the choice of the datamover. The package knows
 * models and rounds only through command descriptor blocks and sense data.
 */
package io.modeldisk.protocol.initiator;
