package io.modeldisk.command;

import io.modeldisk.command.process.LogConfiguration;
import io.modeldisk.command.settings.Converters;
import io.modeldisk.command.settings.Removed;
import io.modeldisk.command.settings.Settings;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code modeldisk} command. */
@Command(name = "modeldisk", mixinStandardHelpOptions = true, versionProvider = VersionText.class,
    description = "A model you can mount: a parameter server whose shards are iSCSI block devices.",
    footer = {"",
        "Every option can also be set in the environment (MODELDISK_SERVE_BLOCK_SIZE=64KiB) or in a file of properties",
        "(serve.block-size=64KiB) that MODELDISK_CONFIG names, by default " + Settings.DEFAULT_FILE + ".",
        "MODELDISK_LOG_LEVEL sets the level of the log: error, warn, info or debug."})
public final class Main {
    private static final List<Class<?>> SUBCOMMANDS = List.of(RunCommand.class, ServeCommand.class, MountCommand.class,
        UnmountCommand.class,
        StatusCommand.class, CheckpointSubcommand.class, HandoverCommand.class, LrCommand.class,
        CoordinatorCommand.class, DoctorCommand.class, RehearseCommand.class);

    private static final String RUN = "run";

    private Main() {}

    /** Runs the command and exits with an {@link ExitStatus}. */
    public static void main(String[] arguments) {
        // This locale is for libraries, which also format numbers: in a locale with other digits, jnr-ffi would look for its
        // native library under a wrong name.
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        System.exit(run(arguments));
    }

    private static int run(String[] arguments) {
        try {
            return commandLine(arguments).execute(arguments);
        } catch (IOException | InvalidPathException e) {
            System.err.println("modeldisk: " + e.getMessage());
            return ExitStatus.WRONG_SETTINGS;
        } catch (OutOfMemoryError e) {
            System.err.println("modeldisk: there is not enough memory: " + e.getMessage());
            return ExitStatus.FAILED;
        }
    }

    /**
     * Creates the command with all its subcommands and settings. The generated page docs/reference.md uses this command too.
     *
     * @throws IOException if the settings file cannot be read or a setting is unknown
     */
    public static CommandLine commandLine() throws IOException {
        return commandLine(new Settings(), _ -> true);
    }

    /**
     * Creates the command for these arguments. Reading the options of a subcommand takes some hundredths of a second, so it is
     * done only for the subcommands in the arguments and in the settings. Every other subcommand has only the description that
     * the help shows.
     */
    static CommandLine commandLine(String... arguments) throws IOException {
        Settings settings = new Settings();
        Set<String> needed = settings.commands();
        needed.addAll(List.of(arguments));
        if (needed.contains(RUN)) {
            needed.addAll(List.of("serve", "mount"));
        }
        return commandLine(settings, needed::contains);
    }

    private static CommandLine commandLine(Settings settings, Predicate<String> needed) throws IOException {
        CommandLine line = new CommandLine(new Main());
        Stream.concat(SUBCOMMANDS.stream(), ServiceLoader.load(Subcommand.class).stream().map(Provider::type))
            .forEach(each -> {
                Command command = each.getAnnotation(Command.class);
                line.addSubcommand(command.name(), needed.test(command.name()) ? each : withoutOptions(command));
            });
        // The options of serve and mount, which run passes on.
        line.getSubcommands().get(RUN).setUnmatchedOptionsArePositionalParams(true);
        Converters.register(line);
        settings.check(line);
        line.setDefaultValueProvider(settings);
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setUsageHelpAutoWidth(true);
        line.setExecutionStrategy(Main::execute);
        // Without this call, picocli would replace an argument @FILE by the lines of the file. A subcommand that only the file
        // names would then lack its options, because Main adds options only for the commands in the arguments.
        line.setExpandAtFiles(false);
        line.setParameterExceptionHandler((failure, _) -> wrongUsage(failure, settings));
        line.setExecutionExceptionHandler((failure, command, _) -> fail(failure, command, settings));
        return line;
    }

    private static CommandSpec withoutOptions(Command command) {
        CommandSpec spec = CommandSpec.create();
        spec.usageMessage().description(command.description()).hidden(command.hidden());
        return spec;
    }

    /** Runs a command. The log is started only here, so that help needs less time. */
    private static int execute(ParseResult parsed) {
        Integer help = CommandLine.executeHelpRequest(parsed);
        if (help != null) {
            return help;
        }
        try {
            LogConfiguration.install();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(parsed.commandSpec().commandLine(), e.getMessage(), e);
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    /**
     * Prints the error, and then suggestions or a hint to use --help, but not the whole help. For a removed command or option,
     * prints only the replacement. Returns the exit status.
     */
    private static int wrongUsage(ParameterException failure, Settings settings) {
        CommandLine command = failure.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        Optional<String> removed = Removed.sentence(failure);
        String message = removed.orElse(failure.getMessage());
        command.getErr().println(name + ": " + message + settings.origins(command, message));
        if (removed.isEmpty() && !UnmatchedArgumentException.printSuggestions(failure, command.getErr())) {
            command.getErr().println("Try '" + name + " --help'.");
        }
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    private static int fail(Exception failure, CommandLine command, Settings settings) throws Exception {
        if (failure instanceof IOException || failure instanceof IllegalArgumentException) {
            String message = words(failure);
            command.getErr()
                .println("modeldisk " + command.getCommandName() + ": " + message + settings.origins(command, message));
            return ExitStatus.of(failure);
        }
        throw failure;
    }

    /**
     * Returns the message of a failure. The message of a {@link FileSystemException} is often only the name of the file, so this
     * method adds the reason.
     */
    private static String words(Exception failure) {
        if (!(failure instanceof FileSystemException file) || file.getReason() != null) {
            return failure.getMessage();
        }
        return file.getMessage() + switch (file) {
            case NoSuchFileException _ -> ": this file or its directory does not exist";
            case AccessDeniedException _ -> ": this user has no permission";
            case FileAlreadyExistsException _ -> ": the file exists already";
            case NotDirectoryException _ -> " is not a directory";
            default -> ": " + file.getClass().getSimpleName();
        };
    }
}
