/**
 * The addresses, initiators and secrets that may access a target, and the delay after a failed login. This package does not
 * depend on connections.
 */
package io.modeldisk.protocol.access;
