/** Tests of the initiator. Most tests use a scripted target. */
package io.modeldisk.protocol.initiator;
