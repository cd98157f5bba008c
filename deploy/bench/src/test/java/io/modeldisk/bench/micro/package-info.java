/** Tests of the order and the length of micro-benchmark runs. */
package io.modeldisk.bench.micro;
