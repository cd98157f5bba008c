package io.modeldisk.command;

import io.modeldisk.command.settings.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * The options of {@code serve} and {@code mount} on the command line of {@code run}. An option that both commands have goes to
 * both.
 *
 * @param serve the options of each shard
 * @param first the options of shard 0 only
 * @param mount the options of each mount
 */
record ForwardedOptions(List<String> serve, List<String> first, List<String> mount) {
    private static final String DATAMOVER = "--datamover";
    private static final String BACKUPS = "run starts no backups of shards; start the processes with serve and mount";

    /** The options that run gives to its shards and mounts, so that settings of them have no effect. */
    private static final Set<String> SET_BY_RUN = Set.of("--shard", "--listen", "--learner", "--foreground");

    /** The options that run sets or does not allow, with the reason. */
    private static final Map<String, String> REFUSED = new TreeMap<>(Map.ofEntries(
        Map.entry("--shard", "run starts all shards; --shards sets their number"),
        Map.entry("--listen", "the shards of run listen on free ports of 127.0.0.1"),
        Map.entry("--peers", "run knows the addresses of all shards"),
        Map.entry("--insecure", "the shards of run listen only on 127.0.0.1"),
        Map.entry("--learner", "run names the learners rank-0, rank-1 and so on; --learners sets their number"),
        Map.entry("--read-only", "each mount of run belongs to a learner"),
        Map.entry("--shared", "each mount of run belongs to one learner"),
        Map.entry("--foreground", "run watches its mounts itself"),
        Map.entry("--restartable", "run watches its mounts itself"),
        Map.entry("--log", "the logs are in the directory of the run, and run shows them after a failure"),
        Map.entry("--dry-run", "use it with serve"),
        Map.entry("--coordinator", BACKUPS), Map.entry("--coordinator-session", BACKUPS),
        Map.entry("--replace-after", BACKUPS), Map.entry("--advertise", BACKUPS), Map.entry("--port-group", BACKUPS),
        Map.entry("--replicas", BACKUPS), Map.entry("--replica-timeout", BACKUPS)));

    /**
     * Assigns the arguments of {@code run} that are not options of run itself to serve, to mount or to both.
     *
     * @param run the command run, a subcommand beside serve and mount
     * @throws ParameterException if a word is not an option of serve or mount, or is refused
     */
    static ForwardedOptions parse(CommandLine run, List<String> words) {
        CommandSpec serve = sibling(run, "serve").getCommandSpec();
        CommandSpec mount = sibling(run, "mount").getCommandSpec();
        ForwardedOptions sorted = new ForwardedOptions(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            String name = word.replaceFirst("=.*", "");
            OptionSpec ofServe = serve.findOption(name);
            OptionSpec ofMount = mount.findOption(name);
            check(run, word, name, ofServe != null || ofMount != null);
            boolean flag = (ofServe != null ? ofServe : ofMount).arity().max() == 0;
            if (!flag && word.equals(name)) {
                if (++i == words.size()) {
                    throw new ParameterException(run, "Missing required parameter for option '" + name + "'");
                }
                word = name + "=" + words.get(i);
            }
            sorted.add(name, word, ofServe != null, ofMount != null);
        }
        return sorted;
    }

    private static void check(CommandLine run, String word, String name, boolean known) {
        if (!word.startsWith("-")) {
            throw new ParameterException(run,
                "'" + word + "' is not an option; write -- before the program of the learners, such "
                    + "as: modeldisk run --learners 2 -- python3 train.py");
        }
        if (REFUSED.containsKey(name)) {
            throw new ParameterException(run, name + " is not for run: " + REFUSED.get(name));
        }
        if (!known) {
            throw new ParameterException(run,
                "Unknown option: '" + name + "'; it is not an option of run, serve or mount");
        }
    }

    /** Returns the names of the options that run sets or does not allow. */
    static Set<String> refused() {
        return REFUSED.keySet();
    }

    private void add(String name, String word, boolean ofServe, boolean ofMount) {
        if (name.equals(DATAMOVER)) {
            mount.add(word);
            // Shards offer tcp and shm without this option.
            if (word.endsWith("=iser")) {
                serve.add(DATAMOVER + "=tcp,iser");
            }
            return;
        }
        if (name.startsWith("--admin")) {
            // The page of one shard shows the whole model, and the processes cannot share a port.
            first.add(word);
            return;
        }
        if (ofServe) {
            serve.add(word);
        }
        if (ofMount) {
            mount.add(word);
        }
    }

    /** Returns the value of an option of each shard: of the command line, of the settings, or the default; null if none. */
    String serveValue(CommandLine run, String name) {
        return value(run, "serve", serve, name);
    }

    /** Returns the value of an option of each mount: of the command line, of the settings, or the default; null if none. */
    String mountValue(CommandLine run, String name) {
        return value(run, "mount", mount, name);
    }

    private static String value(CommandLine run, String command, List<String> given, String name) {
        return given.stream().filter(word -> word.startsWith(name + "=")).reduce((_, last) -> last)
            .map(word -> word.substring(name.length() + 1))
            .orElseGet(() -> setting(run, sibling(run, command).getCommandSpec().findOption(name)));
    }

    /**
     * Checks the form of the values as serve and mount do, before anything starts. Refuses settings of the options that run
     * refuses, because the shards and mounts would use them.
     */
    void check(CommandLine run, List<String> ofServe, List<String> ofMount) {
        for (Entry<String, List<String>> each : Map.of("serve", ofServe, "mount", ofMount).entrySet()) {
            CommandLine command = sibling(run, each.getKey());
            command.parseArgs(each.getValue().toArray(String[]::new));
            for (String name : REFUSED.keySet()) {
                OptionSpec option = command.getCommandSpec().findOption(name);
                if (option != null && !SET_BY_RUN.contains(name)
                    && !Objects.equals(setting(run, option), Settings.defaultText(option))) {
                    throw new ParameterException(run, each.getKey() + "." + name.substring(2) + "="
                        + setting(run, option) + " in the settings is not for run: " + REFUSED.get(name));
                }
            }
        }
    }

    /** Returns the value of an option in the settings, or else its default; null if there is none. */
    private static String setting(CommandLine run, OptionSpec option) {
        try {
            String value = run.getDefaultValueProvider().defaultValue(option);
            return value == null ? Settings.defaultText(option) : value;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static CommandLine sibling(CommandLine run, String name) {
        return run.getParent().getSubcommands().get(name);
    }
}
