/** Finds the transfer sizes that fit this machine, by measuring. */
package io.modeldisk.bench.tuning;
