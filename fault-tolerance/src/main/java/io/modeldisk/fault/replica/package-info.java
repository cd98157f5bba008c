/**
 * Backups of a shard. The primary sends its records to LUN 2 of each backup ({@link io.modeldisk.fault.replica.BackupSink}), and
 * the backup applies them to its own copy of the shard ({@link io.modeldisk.fault.replica.RecordFollower}). This package must not
 * decide which process is the primary, because the coordinator decides this.
 */
package io.modeldisk.fault.replica;
