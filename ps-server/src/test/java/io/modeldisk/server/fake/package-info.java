/** Stand-ins for the engine that calls a shard, and for the aggregator that it calls. */
package io.modeldisk.server.fake;
