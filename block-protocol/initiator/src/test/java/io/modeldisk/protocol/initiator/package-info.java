/** Tests of the initiator, most of them with a scripted target. */
package io.modeldisk.protocol.initiator;
