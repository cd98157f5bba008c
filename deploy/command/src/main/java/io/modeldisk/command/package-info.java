/**
 * The commands of {@code modeldisk}: their own options, what they run and what they print. Other modules implement the shard and
 * the mount.
 */
package io.modeldisk.command;
