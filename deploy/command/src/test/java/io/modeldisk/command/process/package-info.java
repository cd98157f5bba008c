/** Tests of the log and of the notices to a service manager. */
package io.modeldisk.command.process;
