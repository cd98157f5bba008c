/** The loads of benchmarks, the same for the protocol and for its baseline. Measures nothing. */
package io.modeldisk.bench.load;
