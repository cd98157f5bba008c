/**
 * What a process tells its operator: the log, the notices to a service manager, and its end after a failure that cannot be
 * handled.
 */
package io.modeldisk.command.process;
