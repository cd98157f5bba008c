/** Flyweights over the bytes of iSCSI PDUs (RFC 7143 section 11). This package knows no sockets and no sessions. */
package io.modeldisk.protocol.pdu;
