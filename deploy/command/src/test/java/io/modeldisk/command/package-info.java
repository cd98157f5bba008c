/** What the command takes and refuses before it starts anything. */
package io.modeldisk.command;
