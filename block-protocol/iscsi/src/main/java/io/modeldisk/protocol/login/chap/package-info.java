/**
 * One-way and mutual CHAP for initiators and targets (RFC 7143 section 12.1.3, RFC 1994), and the file with the secrets. This
 * package reads and writes text keys. The package does not depend on PDUs or connections.
 */
package io.modeldisk.protocol.login.chap;
