/**
 * The record log of a shard. Each change of the shard is a record. The records go, in one order, to sinks, for example a journal
 * on disk. A push is answered when its records are durable in every sink. {@link io.modeldisk.fault.replay.RecordPlayer} applies
 * records to a shard that has started. This package must not use files or connections, which belong to the sinks.
 */
package io.modeldisk.fault.record;
