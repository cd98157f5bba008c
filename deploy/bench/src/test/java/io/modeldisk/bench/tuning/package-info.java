/** Tests of the choice of transfer sizes. */
package io.modeldisk.bench.tuning;
