/**
 * The journal of a shard: its records on disk. {@link io.modeldisk.fault.journal.JournalSink} appends records to segments and
 * waits until they are on disk. {@link io.modeldisk.fault.journal.JournalReader} reads them when the shard starts again. This
 * package must not depend on the meaning of the records, which {@link io.modeldisk.fault.replay} interprets.
 */
package io.modeldisk.fault.journal;
