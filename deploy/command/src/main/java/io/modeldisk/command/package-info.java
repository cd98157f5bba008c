/** The {@code modeldisk} command: options and messages. The modules below do the work. */
package io.modeldisk.command;
