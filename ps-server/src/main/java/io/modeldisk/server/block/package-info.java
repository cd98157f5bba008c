/** The weights of a shard in memory: blocks, their memory slots and their versions. This package must not depend on rounds. */
package io.modeldisk.server.block;
