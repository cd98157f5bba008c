/** Sizes that fit this machine: {@code modeldisk tune} measures them and writes a file; shards and mounts read it. */
package io.modeldisk.tuning;
