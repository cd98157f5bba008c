/** Tests of the target engine that need the initiator. */
package io.modeldisk.protocol.engine;
