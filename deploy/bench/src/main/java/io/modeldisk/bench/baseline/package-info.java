/**
 * The baselines of {@code bench protocol}. They move the same data without a protocol, either over blocking sockets with the
 * options of a shard's connections, or with one thread within one memory. This package does not use iSCSI.
 */
package io.modeldisk.bench.baseline;
