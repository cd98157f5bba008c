/** A model over its shards as one range of bytes: which shard has a block, and the commands that move a range. */
package io.modeldisk.protocol.striping;
