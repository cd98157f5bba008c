/** Tests of the baselines. */
package io.modeldisk.bench.baseline;
