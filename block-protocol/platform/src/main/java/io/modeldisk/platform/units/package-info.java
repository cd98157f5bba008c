/** Sizes and durations as people write and read them. All commands and messages use the same parser and formatter. */
package io.modeldisk.platform.units;
