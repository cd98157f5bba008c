/**
 * Groups of options that several commands share, or that belong to one topic of {@code serve}. Each group checks its values, and
 * converts them to the settings of a module. All other options are in the class of their command.
 */
package io.modeldisk.command.options;
