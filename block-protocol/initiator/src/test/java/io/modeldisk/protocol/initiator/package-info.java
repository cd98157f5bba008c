/** Tests of the initiator against a target that does as it is told. */
package io.modeldisk.protocol.initiator;
