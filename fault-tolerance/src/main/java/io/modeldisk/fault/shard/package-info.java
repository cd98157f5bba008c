/**
 * The interfaces through which records, checkpoints and backups save and restore a shard: its blocks, and the rounds of its
 * learners. The server implements these interfaces.
 */
package io.modeldisk.fault.shard;
