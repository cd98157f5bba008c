/**
 * Application of gradients to weights: the {@link io.modeldisk.aggregator.Aggregator} SPI and its implementations for the CPU.
 */
package io.modeldisk.aggregator;
