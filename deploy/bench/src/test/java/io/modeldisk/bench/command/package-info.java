/** Tests of the options of benchmark commands. */
package io.modeldisk.bench.command;
