/** Tests of the subcommands. */
package io.modeldisk.bench.command;
