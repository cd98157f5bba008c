/** The bytes of iSCSI PDUs (RFC 7143 section 11) as flyweights over memory. No sockets, no sessions. */
package io.modeldisk.protocol.pdu;
