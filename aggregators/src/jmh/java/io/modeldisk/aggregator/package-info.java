/** Benchmarks of the aggregators and their kernels, in comparison with a copy of the same size. */
package io.modeldisk.aggregator;
