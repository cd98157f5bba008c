/** Who may come in: from where, as which initiator, with which secret, and how soon after a failure. Knows no connection. */
package io.modeldisk.protocol.access;
