/** The {@code modeldisk} command: its options and messages. Other modules do the work. */
package io.modeldisk.command;
