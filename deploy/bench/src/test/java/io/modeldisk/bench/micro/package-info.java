/** Tests of how the micro-benchmarks take turns. */
package io.modeldisk.bench.micro;
