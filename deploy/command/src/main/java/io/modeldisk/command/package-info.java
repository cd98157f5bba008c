/** The {@code modeldisk} command with its options and messages. Other modules implement the shard and the mount. */
package io.modeldisk.command;
