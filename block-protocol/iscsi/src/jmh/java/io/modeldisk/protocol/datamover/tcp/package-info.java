/** Benchmarks of digests. */
package io.modeldisk.protocol.datamover.tcp;
