/**
 * The initiator: sessions with targets, their logins, the commands in flight, and the choice of the datamover. In this package,
 * models and rounds occur only in command descriptor blocks and in sense data.
 */
package io.modeldisk.protocol.initiator;
