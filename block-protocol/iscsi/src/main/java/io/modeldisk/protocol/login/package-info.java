/** Text keys and their negotiation (RFC 7143 sections 6 and 13), for initiators and targets. */
package io.modeldisk.protocol.login;
