/** Tests of the target engine with a raw initiator and a logical unit of plain memory. */
package io.modeldisk.protocol.engine;
