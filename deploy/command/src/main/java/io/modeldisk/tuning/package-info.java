/** Tuned transfer sizes. {@code modeldisk tune} measures the sizes and writes a file. Shards and mounts read the file. */
package io.modeldisk.tuning;
