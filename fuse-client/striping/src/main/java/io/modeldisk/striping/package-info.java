/**
 * A model on its shards as one range of bytes: the distribution of blocks over shards, the commands that move a range, the
 * learner's rounds and memberships, and reconnection. The package does not depend on files or exchange schemes.
 */
package io.modeldisk.striping;
