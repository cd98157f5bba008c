package io.modeldisk.command;

import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The commands and options that earlier versions had. Whoever still uses one is told what replaces it. */
final class Removed {
    /** What replaces a command, such as {@code top}, or an option, such as {@code doctor.collect}. */
    private static final Map<String, String> REPLACEMENTS = Map.of(
        "top", "`watch modeldisk status ADDRESS` shows the state of a model, and the page of `serve --admin` and "
            + "`mount --admin` shows it in a browser",
        "doctor.collect",
        "'What to send with a bug report' in docs/operations.md lists the commands whose output to send",
        "doctor.secrets", "only --collect used it, which is removed too");

    private Removed() {}

    /** Returns a sentence about the removed command or option among the unmatched arguments; empty if there is none. */
    static Optional<String> sentence(UnmatchedArgumentException failure) {
        CommandSpec command = failure.getCommandLine().getCommandSpec();
        String prefix = command.qualifiedName(".").replaceFirst("^modeldisk\\.?", "");
        for (String argument : failure.getUnmatched()) {
            String name = argument.replaceFirst("=.*", "");
            String key = name.replaceFirst("^--", "");
            Optional<String> found = sentence(name, Settings.variable(prefix.isEmpty() ? key : prefix + "." + key));
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /**
     * Returns a sentence about a setting of a removed command or option; empty if the setting does not belong to one.
     *
     * @param name the name that the user has written
     * @param variable the environment variable of the setting, such as {@code MODELDISK_TOP_INTERVAL}
     */
    static Optional<String> sentence(String name, String variable) {
        for (Entry<String, String> each : REPLACEMENTS.entrySet()) {
            String removed = Settings.variable(each.getKey());
            if (variable.equals(removed) || variable.startsWith(removed + "_")) {
                return Optional.of("'" + name + "' was removed: " + each.getValue());
            }
        }
        return Optional.empty();
    }
}
