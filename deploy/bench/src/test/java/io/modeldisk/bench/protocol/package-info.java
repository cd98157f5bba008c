/** Tests of measurements of the protocol in turn with its baselines. */
package io.modeldisk.bench.protocol;
