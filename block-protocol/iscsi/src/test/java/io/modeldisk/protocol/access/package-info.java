/** Tests of the access to a target by address, initiator and secret. */
package io.modeldisk.protocol.access;
