/** Tuned sizes of transfers. {@code modeldisk tune} measures them and writes a file; shards and mounts read the file. */
package io.modeldisk.tuning;
