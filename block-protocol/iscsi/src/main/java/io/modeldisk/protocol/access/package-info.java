/** Access to a target by address, initiator and secret, and the delay after a failed login. Knows no connections. */
package io.modeldisk.protocol.access;
