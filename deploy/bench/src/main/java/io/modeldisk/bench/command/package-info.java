/** The subcommands of this module: bench, trace and tune. */
package io.modeldisk.bench.command;
