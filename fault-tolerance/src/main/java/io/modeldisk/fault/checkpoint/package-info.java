/**
 * Checkpoints of a model in a directory that all shards share: the weights in safetensors files, and for each shard a file with
 * the versions, checksums and aggregator state of its blocks. Source: Hugging Face (several safetensors files and an index).
 */
package io.modeldisk.fault.checkpoint;
