/**
 * The baselines of {@code bench protocol}: the same data moved without a protocol, over blocking sockets with the options of the
 * product's connections, or by one thread within one memory. Knows nothing of iSCSI.
 */
package io.modeldisk.bench.baseline;
