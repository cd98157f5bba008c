/** Tests of the order of micro-benchmarks. */
package io.modeldisk.bench.micro;
