/** Access to a target by address, initiator and secret, and the delay after a failed login. This package knows no connections. */
package io.modeldisk.protocol.access;
