/**
 * The weights of a shard in memory: blocks, their slots and versions, and the visit of the data of a write. Rounds do not belong
 * here.
 */
package io.modeldisk.server.block;
