/** Reads of one round: the shard keeps the weights of a round while initiators read them and learners continue. */
package io.modeldisk.server.kept;
