/**
 * Reads of one version: the shard keeps the weights of a round while initiators read them, although learners continue. Which
 * weights a learner pulls is decided in the package {@code consistency}.
 */
package io.modeldisk.server.kept;
