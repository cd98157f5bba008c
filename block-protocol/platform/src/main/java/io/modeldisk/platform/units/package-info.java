/** Sizes and durations as people write and read them: one parser and one formatter for all commands and messages. */
package io.modeldisk.platform.units;
