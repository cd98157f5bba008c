/** The command {@code modeldisk tune}, which finds the best transfer sizes for this machine. */
package io.modeldisk.bench.tuning;
