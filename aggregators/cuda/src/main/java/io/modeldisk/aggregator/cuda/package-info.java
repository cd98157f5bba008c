/**
 * The aggregators on an NVIDIA GPU: device memory, streams, and batches of folds. Only this package uses JCuda. It must not
 * depend on the shard's blocks, consistency or transport.
 */
package io.modeldisk.aggregator.cuda;
