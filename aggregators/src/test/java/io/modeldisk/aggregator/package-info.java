/** Tests of the aggregators and their kernels. */
package io.modeldisk.aggregator;
