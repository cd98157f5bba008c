/** The parts of a shard, and its part for several processes that may serve it. */
package io.modeldisk.server.shard;
