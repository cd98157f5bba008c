/** The loads of benchmarks, which are the same for the protocol and for its baseline. This package contains no measurement. */
package io.modeldisk.bench.load;
