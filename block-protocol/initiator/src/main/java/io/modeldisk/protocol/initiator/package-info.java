/**
 * The initiator: sessions with targets, their logins, the commands in flight, and the choice of the datamover. Models and rounds
 * occur here only in command descriptor blocks and in sense data.
 */
package io.modeldisk.protocol.initiator;
