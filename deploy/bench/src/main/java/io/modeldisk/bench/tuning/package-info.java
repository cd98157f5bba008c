/** {@code modeldisk tune}: finds the best transfer sizes for this machine. */
package io.modeldisk.bench.tuning;
