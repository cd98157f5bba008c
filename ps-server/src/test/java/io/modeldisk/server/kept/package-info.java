/** Tests of the rounds that a shard keeps for readers. */
package io.modeldisk.server.kept;
