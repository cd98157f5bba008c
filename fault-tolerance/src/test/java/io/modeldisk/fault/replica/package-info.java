/** Tests of the backups of a shard. */
package io.modeldisk.fault.replica;
