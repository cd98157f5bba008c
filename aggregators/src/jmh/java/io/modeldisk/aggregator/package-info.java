/** Benchmarks of the aggregators and their kernels, compared with a copy of the same size. */
package io.modeldisk.aggregator;
