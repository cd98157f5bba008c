/** Tests of the package {@code io.modeldisk.fault.replica} that need a whole shard. */
package io.modeldisk.fault.replica;
