package io.modeldisk.doctor.collect;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** What the archive has of each running process of modeldisk. */
final class ProcessItems {
    private static final List<String> FILES = List.of("status", "limits", "cgroup", "smaps_rollup", "io", "oom_score");
    private static final List<String> VARIABLES = List.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JAVA_HOME", "PATH",
        "LD_LIBRARY_PATH",
        "XDG_RUNTIME_DIR", "NOTIFY_SOCKET", "WATCHDOG_USEC", "CREDENTIALS_DIRECTORY");

    private ProcessItems() {}

    static List<Item> of(ModeldiskProcess process, Masking masking) {
        String name = "processes/" + process.id() + "-" + process.command();
        return List.of(new Item(name + ".txt", () -> describe(process, masking)),
            new Item(name + ".threads.txt", () -> threads(process)));
    }

    private static String describe(ModeldiskProcess process, Masking masking) {
        StringJoiner text = new StringJoiner("\n");
        text.add("command: " + commandLine(process.arguments(), masking));
        if (process.environment().isEmpty()) {
            text.add("environment: this user may not read it");
        }
        process.environment().forEach((variable, value) -> {
            if (variable.startsWith("MODELDISK_") || VARIABLES.contains(variable)) {
                text.add(variable + "=" + masking.maskValue(variable, value));
            }
        });
        for (String file : FILES) {
            text.add("").add("== " + file).add(readable(process.folder().resolve(file)));
        }
        return text.toString();
    }

    /** Returns the arguments without secrets. The value of an option may be the argument after it. */
    private static String commandLine(List<String> arguments, Masking masking) {
        StringJoiner line = new StringJoiner(" ");
        String before = "";
        for (String argument : arguments) {
            String[] parts = argument.startsWith("--") ? argument.split("=", 2) : new String[]{argument};
            line.add(parts.length == 2
                ? parts[0] + "=" + masking.maskValue(parts[0], parts[1])
                : masking.maskValue(before, argument));
            before = argument.startsWith("--") && parts.length == 1 ? argument : "";
        }
        return line.toString();
    }

    private static String readable(Path file) {
        try {
            return Text.ofKernel(file);
        } catch (IOException e) {
            return "cannot be read: " + e.getMessage();
        }
    }

    private static String threads(ModeldiskProcess process) throws IOException {
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        return Program.output(Files.isExecutable(jcmd) ? jcmd.toString() : "jcmd", process.id(), "Thread.print", "-l");
    }

    /** Returns the variables of this process that may have an effect. */
    static String ownEnvironment(Masking masking) {
        StringJoiner text = new StringJoiner("\n");
        for (Map.Entry<String, String> variable : System.getenv().entrySet()) {
            if (variable.getKey().startsWith("MODELDISK_") || VARIABLES.contains(variable.getKey())) {
                text.add(variable.getKey() + "=" + masking.maskValue(variable.getKey(), variable.getValue()));
            }
        }
        return text.toString();
    }
}
