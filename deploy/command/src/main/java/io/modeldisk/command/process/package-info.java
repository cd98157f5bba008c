/**
 * The log of a process, its notices to the service manager, and its end after a failure from which it cannot recover.
 */
package io.modeldisk.command.process;
