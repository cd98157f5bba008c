/** Text keys and their negotiation (RFC 7143 sections 6 and 13), for both sides. */
package io.modeldisk.protocol.login;
