/**
 * Groups of options that several commands share, or that are a topic of {@code serve}. Each group checks its values, and turns
 * them into the settings of a module. The options of one command alone are in the class of the command.
 */
package io.modeldisk.command.options;
