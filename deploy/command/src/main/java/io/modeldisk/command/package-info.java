/** The {@code modeldisk} command: options and messages. What it starts lives in the modules below. */
package io.modeldisk.command;
