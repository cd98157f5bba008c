package io.modeldisk.doctor.collect;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * A running process of modeldisk.
 *
 * @param folder its folder in /proc
 * @param directory the directory from which it was started, which is not the working directory of a mount in the background
 * @param arguments the command and its arguments, such as {@code serve --model m}
 * @param environment the environment variables; empty if this user may not read them
 * @param names how its settings are found
 */
record ModeldiskProcess(Path folder, Path directory, List<String> arguments, Map<String, String> environment,
    SettingsNames names) {
    private static final Path PROC = Path.of("/proc");
    private static final String MAIN = "io.modeldisk.command.Main";
    private static final String DIRECTORY = "-Duser.dir=";

    /** Returns the processes of this machine, without this one. */
    static List<ModeldiskProcess> all(SettingsNames names) throws IOException {
        List<ModeldiskProcess> found = new ArrayList<>();
        String self = Long.toString(ProcessHandle.current().pid());
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(PROC, "[1-9]*")) {
            for (Path folder : folders) {
                List<String> line = strings(folder.resolve("cmdline"));
                int main = line.indexOf(MAIN);
                if (main >= 0 && main + 1 < line.size() && !folder.endsWith(self)) {
                    found.add(
                        new ModeldiskProcess(folder, directory(folder, line.subList(0, main)),
                            line.subList(main + 1, line.size()), environment(folder), names));
                }
            }
        }
        return found;
    }

    private static Path directory(Path folder, List<String> javaOptions) {
        return javaOptions.stream().filter(option -> option.startsWith(DIRECTORY)).findFirst()
            .map(option -> Path.of(option.substring(DIRECTORY.length()))).orElse(folder.resolve("cwd"));
    }

    private static List<String> strings(Path file) {
        try {
            return Arrays.asList(Text.ofKernel(file).split("\0"));
        } catch (IOException e) {
            // The process has ended, or this user may not read the file.
            return List.of();
        }
    }

    private static Map<String, String> environment(Path folder) {
        Map<String, String> environment = new TreeMap<>();
        for (String variable : strings(folder.resolve("environ"))) {
            String[] parts = variable.split("=", 2);
            if (parts.length == 2) {
                environment.put(parts[0], parts[1]);
            }
        }
        return environment;
    }

    String id() {
        return folder.getFileName().toString();
    }

    /** The command, such as {@code serve}. */
    String command() {
        return arguments.getFirst();
    }

    /** Returns the settings file of the process; null if it has none that exists. */
    Path settingsFile() {
        Path file = resolve(environment.getOrDefault("MODELDISK_CONFIG", names.defaultFile()));
        return Files.exists(file) ? file : null;
    }

    /** Returns a path of the process as a path of this process. */
    Path resolve(String path) {
        try {
            return directory.toRealPath().resolve(path);
        } catch (IOException e) {
            return Path.of(path);
        }
    }

    /** Returns the value of an option, such as {@code --model}; null if it has its default or is not known. */
    String option(String name) {
        for (int i = 1; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            if (argument.startsWith(name + "=")) {
                return argument.substring(name.length() + 1);
            }
            if (argument.equals(name) && i + 1 < arguments.size()) {
                return arguments.get(i + 1);
            }
        }
        String key = command() + "." + name.substring(2);
        String variable = environment.get(names.variable().apply(key));
        return variable != null ? variable : properties(settingsFile()).getProperty(key);
    }

    /** Reads a settings file. Returns no properties if the file is null or cannot be read. */
    static Properties properties(Path file) {
        Properties properties = new Properties();
        if (file != null) {
            try (Reader reader = Files.newBufferedReader(file)) {
                properties.load(reader);
            } catch (IOException | IllegalArgumentException e) {
                return new Properties();
            }
        }
        return properties;
    }
}
