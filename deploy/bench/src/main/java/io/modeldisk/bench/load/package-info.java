/** The loads of benchmarks, which are the same for the protocol and for its baselines, and the turns that measure them. */
package io.modeldisk.bench.load;
