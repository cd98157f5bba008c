/** Aggregators apply gradients to weights: the {@link io.modeldisk.aggregator.Aggregator} SPI and its CPU implementations. */
package io.modeldisk.aggregator;
