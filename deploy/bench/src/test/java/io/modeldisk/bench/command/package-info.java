/** Tests of the subcommands' options. */
package io.modeldisk.bench.command;
