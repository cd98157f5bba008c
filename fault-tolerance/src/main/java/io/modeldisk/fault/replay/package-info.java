/** Applies records to a shard that has started and serves no learner yet. Must not depend on the source of the records. */
package io.modeldisk.fault.replay;
