/** Flyweights over the bytes of iSCSI PDUs (RFC 7143 section 11). This package does not depend on sockets or sessions. */
package io.modeldisk.protocol.pdu;
