package io.modeldisk.command;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Where an option that is not on the command line comes from: the environment ({@code MODELDISK_SERVE_BLOCK_SIZE}), then a
 * file of properties ({@code serve.block-size}) that {@code MODELDISK_CONFIG} names, or {@value #DEFAULT_FILE} if it is there.
 */
final class Settings implements IDefaultValueProvider {
    /** The settings file if MODELDISK_CONFIG names none. */
    public static final String DEFAULT_FILE = "/etc/modeldisk/modeldisk.properties";

    private static final String PREFIX = "MODELDISK_";
    /** What the script and the log take from the environment: no options. */
    private static final Set<String> OTHER_VARIABLES = Set.of("MODELDISK_CONFIG", "MODELDISK_LOG_LEVEL",
        Background.MARKER);

    /** The commands of the module {@code bench}. */
    private static final Set<String> OPTIONAL_COMMANDS = Set.of("bench", "trace", "tune");

    private final Properties file = new Properties();
    private Path path;

    /**
     * Reads the file.
     *
     * @throws IOException if it is named and cannot be read, in words
     */
    Settings() throws IOException {
        String named = System.getenv("MODELDISK_CONFIG");
        path = Path.of(named == null ? DEFAULT_FILE : named);
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
        String key = key(argument.command(), option);
        String value = System.getenv(variable(key));
        return value != null ? value : file.getProperty(key);
    }

    /**
     * Checks that every setting is one of an option of a command: a misspelt one would do nothing, and nobody would know.
     *
     * @throws IOException for a key of the file or a variable that no option has, naming it
     */
    void check(CommandLine line) throws IOException {
        Set<String> keys = new TreeSet<>();
        collect(line.getCommandSpec(), keys);
        Set<String> variables = keys.stream().map(Settings::variable).collect(Collectors.toSet());
        for (String key : new TreeSet<>(file.stringPropertyNames())) {
            if (!keys.contains(key) && !belongsToAbsentCommand(line, key)) {
                throw new IOException("the settings file " + path + " has '" + key
                    + "', which is no COMMAND.OPTION of modeldisk, as serve.block-size is");
            }
        }
        for (String name : new TreeSet<>(System.getenv().keySet())) {
            if (name.startsWith(PREFIX) && !variables.contains(name) && !OTHER_VARIABLES.contains(name)
                && !belongsToAbsentCommand(line, name.substring(PREFIX.length()).toLowerCase(Locale.ROOT))) {
                throw new IOException("the environment has " + name
                    + ", which is no setting of modeldisk, as MODELDISK_SERVE_BLOCK_SIZE is");
            }
        }
    }

    /** A setting of bench, tune or trace, where their module is not on the class path: serve and mount run without it. */
    private static boolean belongsToAbsentCommand(CommandLine line, String key) {
        String command = key.split("[._]", 2)[0];
        return OPTIONAL_COMMANDS.contains(command) && !line.getSubcommands().containsKey(command);
    }

    private static void collect(CommandSpec command, Set<String> keys) {
        for (OptionSpec option : command.options()) {
            if (!option.usageHelp() && !option.versionHelp()) {
                keys.add(key(command, option));
            }
        }
        command.subcommands().values().forEach(sub -> collect(sub.getCommandSpec(), keys));
    }

    private static String key(CommandSpec command, OptionSpec option) {
        return command.qualifiedName(".").replaceFirst("^modeldisk\\.", "") + "."
            + option.longestName().replaceFirst("^--", "");
    }

    private static String variable(String key) {
        return PREFIX + key.replace('.', '_').replace('-', '_').toUpperCase(Locale.ROOT);
    }
}
