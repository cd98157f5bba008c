/** Tests of sizes and durations as people write them. */
package io.modeldisk.platform.units;
