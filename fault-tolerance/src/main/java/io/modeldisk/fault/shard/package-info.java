/**
 * A shard as what survives sees it: its blocks, and the rounds of its learners. The server implements these interfaces. Records,
 * checkpoints and backups save and restore a shard through them.
 */
package io.modeldisk.fault.shard;
