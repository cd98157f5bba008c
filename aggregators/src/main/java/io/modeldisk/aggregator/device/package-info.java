/** The interface between a shard and a device, such as a GPU, that stores the shard's blocks and applies gradients to them. */
package io.modeldisk.aggregator.device;
