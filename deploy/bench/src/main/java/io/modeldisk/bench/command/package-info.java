/** The commands {@code bench}, {@code trace} and {@code tune}. */
package io.modeldisk.bench.command;
