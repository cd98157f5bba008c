/** Fakes of the engine that calls a shard, and of the aggregator that a shard calls. */
package io.modeldisk.server.fake;
