/**
 * A model over its shards as one range of bytes: which shard has a block, the commands that move a range, the learner's rounds
 * and memberships, and reconnection. It knows no files and no exchange schemes.
 */
package io.modeldisk.protocol.striping;
