package io.modeldisk.command;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Where an option that is not on the command line comes from: the environment ({@code MODELDISK_SERVE_BLOCK_SIZE}), then a
 * file of properties ({@code serve.block-size}) that {@code MODELDISK_CONFIG} names, or {@value #DEFAULT_FILE} if it is there.
 */
final class Settings implements IDefaultValueProvider {
    static final String DEFAULT_FILE = "/etc/modeldisk/modeldisk.properties";

    private final Properties file = new Properties();

    /**
     * Reads the file.
     *
     * @throws IOException if it is named and cannot be read, in words
     */
    Settings() throws IOException {
        String named = System.getenv("MODELDISK_CONFIG");
        Path path = Path.of(named == null ? DEFAULT_FILE : named);
        if (named == null && !Files.exists(path)) {
            return;
        }
        try (Reader reader = Files.newBufferedReader(path)) {
            file.load(reader);
        } catch (NoSuchFileException e) {
            throw new IOException("MODELDISK_CONFIG=" + path + ": there is no such file", e);
        } catch (IOException | IllegalArgumentException e) {
            throw new IOException("the settings file " + path + " cannot be read: " + e.getMessage(), e);
        }
    }

    @Override
    public String defaultValue(ArgSpec argument) {
        if (!(argument instanceof OptionSpec option) || option.usageHelp() || option.versionHelp()) {
            return null;
        }
        String command = argument.command().name();
        String name = option.longestName().replaceFirst("^--", "");
        String variable = "MODELDISK_" + (command + "_" + name).replace('-', '_').toUpperCase(Locale.ROOT);
        String value = System.getenv(variable);
        return value != null ? value : file.getProperty(command + "." + name);
    }
}
