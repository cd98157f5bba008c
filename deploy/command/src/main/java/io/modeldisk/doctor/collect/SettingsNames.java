package io.modeldisk.doctor.collect;

import java.util.function.UnaryOperator;

/**
 * How the settings of a command are found.
 *
 * @param defaultFile the settings file that is read if MODELDISK_CONFIG is not set
 * @param variable returns the environment variable of a property, such as {@code serve.model}
 */
public record SettingsNames(String defaultFile, UnaryOperator<String> variable) {}
