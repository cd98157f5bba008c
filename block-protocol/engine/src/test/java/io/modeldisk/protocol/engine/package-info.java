/** Tests of the target engine with a raw initiator, and a unit of memory that it serves. */
package io.modeldisk.protocol.engine;
