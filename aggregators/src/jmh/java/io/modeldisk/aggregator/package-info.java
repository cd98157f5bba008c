/** Benchmarks of the aggregators and their kernels, beside a copy of the same size. */
package io.modeldisk.aggregator;
