/** The needs of a shard from a device, such as a GPU, that keeps its blocks and applies its gradients. */
package io.modeldisk.aggregator.device;
