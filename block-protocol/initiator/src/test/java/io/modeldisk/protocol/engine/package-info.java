/** Tests of the target engine that need an initiator. */
package io.modeldisk.protocol.engine;
