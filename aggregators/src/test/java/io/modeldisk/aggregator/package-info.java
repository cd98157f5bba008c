/** The laws that the aggregators and their kernels keep. */
package io.modeldisk.aggregator;
