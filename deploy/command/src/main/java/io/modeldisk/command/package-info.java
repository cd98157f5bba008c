/**
 * The commands of {@code modeldisk}, with their own options and their output. Other modules implement the shard and the mount.
 */
package io.modeldisk.command;
