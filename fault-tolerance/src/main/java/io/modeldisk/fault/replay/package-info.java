/** Applies records to a shard that has started and serves nobody yet. This package must not know where the records come from. */
package io.modeldisk.fault.replay;
