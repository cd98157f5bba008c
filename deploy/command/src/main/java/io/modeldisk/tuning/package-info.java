/** Sizes that fit this machine: what {@code modeldisk tune} measures, and the file that a shard and a mount read. */
package io.modeldisk.tuning;
