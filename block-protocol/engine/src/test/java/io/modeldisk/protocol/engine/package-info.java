/** Tests of the target against initiators that are not ours, and a unit to serve. */
package io.modeldisk.protocol.engine;
