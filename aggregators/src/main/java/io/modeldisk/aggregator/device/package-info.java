/** What a shard needs from a device, such as a GPU, that keeps its blocks and applies its gradients. */
package io.modeldisk.aggregator.device;
