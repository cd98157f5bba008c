/**
 * Reads of one round: the shard keeps the weights of a round while initiators read them and learners continue. The package {@code
 * consistency} decides which weights a learner pulls.
 */
package io.modeldisk.server.kept;
