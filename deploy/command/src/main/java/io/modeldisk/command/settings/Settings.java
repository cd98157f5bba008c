package io.modeldisk.command.settings;

import io.modeldisk.command.process.LogConfiguration;
import io.modeldisk.command.process.ServiceNotices;
import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.platform.units.DurationText;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * The values of options and arguments that are not on the command line. A value comes from the environment
 * ({@code MODELDISK_SERVE_BLOCK_SIZE}), else from a file of properties ({@code serve.block-size}). {@code MODELDISK_CONFIG} names
 * the file; without it, {@value #DEFAULT_FILE} is read if it exists. Without another value, the secrets file is the credential
 * that systemd passes to a service. An empty value counts as no value.
 */
public final class Settings implements IDefaultValueProvider {
    /** The settings file that is read if MODELDISK_CONFIG is not set. */
    public static final String DEFAULT_FILE = "/etc/modeldisk/modeldisk.properties";

    private static final String PREFIX = "MODELDISK_";
    private static final String CONFIG = PREFIX + "CONFIG";
    private static final String SECRETS = "secrets";
    private static final String NO_SECRETS = "none";
    /** Some editors write this character at the start of a file. It would become a part of the first setting's name. */
    private static final char BYTE_ORDER_MARK = '\uFEFF';
    /**
     * The environment variables that belong to no option: for the settings file, the log, the background process, and the
     * learners of a run.
     */
    private static final Set<String> OTHER_VARIABLES = Set.of(CONFIG, LogConfiguration.LEVEL,
        LogConfiguration.ZOOKEEPER_LEVEL, ServiceNotices.IN_BACKGROUND, "MODELDISK_RUN", "MODELDISK_DIR");

    /** The commands of the optional module {@code bench}. */
    private static final Set<String> OPTIONAL_COMMANDS = Set.of("bench", "trace", "tune");

    private final Properties file = new Properties();
    private Path path;

    /**
     * Reads the settings file.
     *
     * @throws IOException if MODELDISK_CONFIG names a file that cannot be read
     */
    public Settings() throws IOException {
        String named = Processes.environment(CONFIG);
        path = Path.of(named == null ? DEFAULT_FILE : named);
        if (named == null && !Files.exists(path)) {
            return;
        }
        try (BufferedReader reader = Files.newBufferedReader(path)) {
            reader.mark(1);
            if (reader.read() == BYTE_ORDER_MARK) {
                throw new SettingException(
                    "the file begins with a byte order mark (U+FEFF); save it as UTF-8 without this mark");
            }
            reader.reset();
            file.load(reader);
        } catch (NoSuchFileException e) {
            throw new SettingException(CONFIG + "=" + path + " names a file that does not exist", e);
        } catch (CharacterCodingException e) {
            throw new SettingException("cannot read the settings file " + path + ": it is not UTF-8 text", e);
        } catch (IOException | IllegalArgumentException e) {
            throw new SettingException("cannot read the settings file " + path + ": " + e.getMessage(), e);
        }
    }

    @Override
    public String defaultValue(ArgSpec argument) {
        String key = key(argument);
        if (key == null) {
            return null;
        }
        String value = value(key);
        if (value == null && key.endsWith("." + SECRETS)) {
            value = credential();
        }
        return value == null ? initialText(argument) : value;
    }

    /** Returns the value of a setting in the environment or the file. An empty value counts as no value. */
    private String value(String key) {
        String variable = Processes.environment(variable(key));
        if (variable != null) {
            return variable;
        }
        // The format of properties keeps the blanks at the end of a line.
        String property = file.getProperty(key, "").strip();
        return property.isEmpty() ? null : property;
    }

    /**
     * Returns a clause for the end of a message, which says where the options in the message were set. Without this clause, a
     * user would look for them on the command line. Returns an empty string if the environment and the file set none of them.
     */
    public String origins(CommandLine command, String message) {
        StringJoiner origins = new StringJoiner(", ", "; ", "").setEmptyValue("");
        for (OptionSpec option : command.getCommandSpec().options()) {
            String key = key(option);
            String origin = key == null || isGiven(command, option) ? null : origin(key);
            if (origin != null && names(message, option)) {
                origins.add(option.longestName() + " is set by " + origin);
            }
        }
        return origins.toString();
    }

    /** Returns the place of the setting for an option, such as the settings file; null if the option is not set there. */
    private String origin(String key) {
        if (Processes.environment(variable(key)) != null) {
            return variable(key) + " in the environment";
        }
        if (value(key) != null) {
            return key + " in " + path;
        }
        return key.endsWith("." + SECRETS) && credential() != null ? "the credential " + credential() : null;
    }

    private static boolean isGiven(CommandLine command, OptionSpec option) {
        ParseResult parsed = command.getParseResult();
        return parsed != null && parsed.hasMatchedOption(option);
    }

    /** Returns whether a message contains an option, in the form {@code --block-size} or {@code blockSize=}. */
    private static boolean names(String message, OptionSpec option) {
        String name = option.longestName();
        String member = Pattern.compile("-+(.)").matcher(name.substring(2))
            .replaceAll(each -> each.group(1).toUpperCase(
                Locale.ROOT));
        return message != null
            && Pattern.compile("(?<![\\w.-])(" + name + "(?![\\w-])|" + member + "=)").matcher(message)
                .find();
    }

    /** Returns the default of an option, as users write it; null if there is none. */
    public static String defaultText(ArgSpec argument) {
        return argument.defaultValue() == null ? initialText(argument) : argument.defaultValue();
    }

    /** Returns the text of a default that is a constant of the code. */
    private static String initialText(ArgSpec argument) {
        return switch (argument.initialValue()) {
            case Duration time -> DurationText.format(time);
            case ByteSize size -> size.toString().replace(" ", "");
            case null, default -> null;
        };
    }

    /**
     * Returns the path of the credential {@code secrets} of a systemd service (systemd.exec(5), LoadCredential=). Returns null if
     * there is no such credential, or if its text is {@value #NO_SECRETS}, which the units of the Debian package set by default.
     */
    private static String credential() {
        String folder = Processes.environment("CREDENTIALS_DIRECTORY");
        if (folder == null) {
            return null;
        }
        Path credential = Path.of(folder, SECRETS);
        try {
            return Files.size(credential) == NO_SECRETS.length() && Files.readString(credential).equals(NO_SECRETS)
                ? null
                : credential.toString();
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            // The command reads this file later. If it cannot read the file, its message contains the reason.
            return credential.toString();
        }
    }

    /** Returns the names of the commands to which settings belong. There might be no command of such a name. */
    public Set<String> commands() {
        Stream<String> variables = System.getenv().keySet().stream()
            .filter(name -> name.startsWith(PREFIX) && !OTHER_VARIABLES.contains(name))
            .map(name -> name.substring(PREFIX.length()).toLowerCase(Locale.ROOT));
        return Stream.concat(file.stringPropertyNames().stream(), variables).map(Settings::command)
            .collect(Collectors.toSet());
    }

    private static String command(String key) {
        return key.split("[._]", 2)[0];
    }

    /**
     * Checks that every setting belongs to an option of a command, because a misspelt setting would have no effect.
     *
     * @throws IOException if a property or variable belongs to no option; the message names the first such setting
     */
    public void check(CommandLine line) throws IOException {
        Set<String> keys = new TreeSet<>();
        collect(line.getCommandSpec(), keys);
        Set<String> variables = keys.stream().map(Settings::variable).collect(Collectors.toSet());
        for (String key : new TreeSet<>(file.stringPropertyNames())) {
            if (!keys.contains(key) && !belongsToAbsentCommand(line, key)) {
                throw new SettingException("the setting '" + key + "' in " + path + " is unknown; "
                    + Removed.sentence(key, variable(key))
                        .orElse("settings have the form COMMAND.OPTION, such as serve.block-size"));
            }
        }
        for (String name : new TreeSet<>(System.getenv().keySet())) {
            if (name.startsWith(PREFIX) && !variables.contains(name) && !OTHER_VARIABLES.contains(name)
                && !belongsToAbsentCommand(line, name.substring(PREFIX.length()).toLowerCase(Locale.ROOT))) {
                throw new SettingException("the setting '" + name + "' in the environment is unknown; "
                    + Removed.sentence(name, name).orElse("settings have the form MODELDISK_COMMAND_OPTION, such as"
                        + " MODELDISK_SERVE_BLOCK_SIZE"));
            }
        }
    }

    /**
     * Returns whether a setting belongs to bench, tune or trace, and their module is not installed. Such a setting is not an
     * error.
     */
    private static boolean belongsToAbsentCommand(CommandLine line, String key) {
        String command = command(key);
        return OPTIONAL_COMMANDS.contains(command) && !line.getSubcommands().containsKey(command);
    }

    private static void collect(CommandSpec command, Set<String> keys) {
        command.args().stream().map(Settings::key).filter(Objects::nonNull).forEach(keys::add);
        command.subcommands().values().forEach(sub -> collect(sub.getCommandSpec(), keys));
    }

    /**
     * Returns the property name of an option or an argument, such as {@code serve.block-size}. Returns null for what no setting
     * can set: {@code --help}, and an argument without a description key.
     */
    public static String key(ArgSpec argument) {
        String name = switch (argument) {
            case OptionSpec option when option.usageHelp() || option.versionHelp() -> null;
            case OptionSpec option -> option.longestName().replaceFirst("^--", "");
            default -> argument.descriptionKey();
        };
        return name == null || name.isEmpty()
            ? null
            : argument.command().qualifiedName(".").replaceFirst("^modeldisk\\.", "") + "." + name;
    }

    /** Returns the name of a property's environment variable, such as {@code MODELDISK_SERVE_BLOCK_SIZE}. */
    public static String variable(String key) {
        return PREFIX + key.replace('.', '_').replace('-', '_').toUpperCase(Locale.ROOT);
    }
}
