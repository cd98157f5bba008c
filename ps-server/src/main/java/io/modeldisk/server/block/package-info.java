/** The weights of a shard in memory: blocks, their memory slots and their versions. This package does not know rounds. */
package io.modeldisk.server.block;
