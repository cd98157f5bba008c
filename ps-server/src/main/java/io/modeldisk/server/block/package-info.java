/** A shard's weights in memory: blocks, their versions for slow readers, and the way through a write's data. No rounds here. */
package io.modeldisk.server.block;
