/** A shard, and the part that it needs if several processes may serve it. */
package io.modeldisk.server.shard;
