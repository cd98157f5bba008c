/** Tests of the blocks of a shard. */
package io.modeldisk.server.block;
