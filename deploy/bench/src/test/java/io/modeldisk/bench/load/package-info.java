/** Tests of the turns of measurements. */
package io.modeldisk.bench.load;
