/**
 * The values of options: those from the environment and the settings file, their conversion, and the messages about options that
 * were removed. No option is defined here.
 */
package io.modeldisk.command.settings;
