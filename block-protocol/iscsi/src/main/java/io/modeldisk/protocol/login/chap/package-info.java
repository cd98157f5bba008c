/**
 * CHAP, one way and mutual, of both sides (RFC 7143 section 12.1.3, RFC 1994), and the file with its secrets. Takes and
 * gives text keys: it knows no PDU and no connection.
 */
package io.modeldisk.protocol.login.chap;
