package io.modeldisk.system;

import static io.modeldisk.test.Await.await;

import io.modeldisk.test.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.opentest4j.TestAbortedException;

/**
 * The directory and the processes of one test. After the test, the sandbox kills the processes, and removes the mounts and files.
 * If the test has failed, the sandbox also prints the output of the processes.
 */
final class Sandbox implements BeforeEachCallback, AfterEachCallback {
    private static final Path COMMAND = Path.of(System.getProperty("project.root"), "deploy", "modeldisk");
    /** An environment variable that marks the processes of a sandbox and their children. */
    private static final String MARK = "SYSTEM_TEST_SANDBOX";

    private final List<Running> started = new ArrayList<>();
    private final List<AutoCloseable> closeables = new ArrayList<>();
    private final Map<String, String> forAll = new HashMap<>();
    private Path base;
    private String mark;

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        base = Files.createTempDirectory("modeldisk-system").toRealPath();
        mark = MARK + "=" + UUID.randomUUID();
        Files.createFile(base.resolve("no.properties"));
        if (Boolean.getBoolean("system.device")) {
            useDevice();
        }
    }

    /**
     * Makes all shards of this test use an emulated GPU. Skips the test if the emulation is not possible on this machine. With
     * {@code -Dsystem.device=true}, every test uses the emulated GPU.
     */
    void useDevice() throws Exception {
        forAll.putAll(EmulatedDriver.environment());
        forAll.putAll(Map.of("MODELDISK_SERVE_DEVICE", "cuda:0", "EMULATED_CUDA_MEGABYTES", "2048"));
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        boolean failed = context.getExecutionException().filter(e -> !(e instanceof TestAbortedException)).isPresent();
        if (failed) {
            for (Running process : started) {
                System.err
                    .println("---- " + context.getDisplayName() + ": " + process.name() + ": its output\n"
                        + process.output());
            }
        }
        for (AutoCloseable closeable : closeables.reversed()) {
            closeable.close();
        }
        closeables.clear();
        started.clear();
        forAll.clear();
        for (ProcessHandle process : processes()) {
            process.destroyForcibly();
        }
        await("all processes exit", () -> processes().isEmpty());
        for (String directory : mounts()) {
            new ProcessBuilder("umount", "-l", directory).inheritIO().start().waitFor();
        }
        try (Stream<Path> files = Files.walk(base)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** Returns a path in the sandbox's directory. */
    Path path(String name) {
        return base.resolve(name);
    }

    Path directory(String name) throws IOException {
        return Files.createDirectories(path(name));
    }

    Path file(String name, String text) throws IOException {
        return Files.writeString(path(name), text);
    }

    /** Registers an object that is closed after the test. Objects are closed in the reverse order of their registration. */
    <T extends AutoCloseable> T closeAfterwards(T closeable) {
        closeables.add(closeable);
        return closeable;
    }

    /** Returns the command line of {@code modeldisk} with these arguments. An array stands for its elements. */
    static Object[] modeldisk(Object... arguments) {
        return new Object[]{COMMAND, arguments};
    }

    static String[] words(Object... arguments) {
        return elements(arguments).map(Object::toString).toArray(String[]::new);
    }

    private static Stream<Object> elements(Object argument) {
        return argument instanceof Object[] array ? Stream.of(array).flatMap(Sandbox::elements) : Stream.of(argument);
    }

    /** Starts a process, which the sandbox kills after the test. An array in the command stands for its elements. */
    Running start(String name, Object... command) throws IOException {
        return start(name, Map.of(), command);
    }

    Running start(String name, Map<String, String> environment, Object... command) throws IOException {
        Path log = Files.createTempFile(base, name, ".log");
        Process process = builder(environment, command).redirectOutput(log.toFile()).start();
        Running running = new Running(name, process, log);
        started.add(running);
        return running;
    }

    /** Runs a command. Returns after the command has exited and all processes have closed its output. */
    Result run(Object... command) throws Exception {
        return run(Map.of(), command);
    }

    Result run(Map<String, String> environment, Object... command) throws Exception {
        Process process = builder(environment, command).start();
        process.getOutputStream().close();
        CompletableFuture<String> output = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                output.complete(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                output.completeExceptionally(e);
            }
        });
        String line = String.join(" ", words(command));
        if (!process.waitFor(Await.BOUND.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("the command did not exit in time: " + line);
        }
        await("all output of the command is read: " + line, output::isDone);
        return new Result(line, process.exitValue(), output.join());
    }

    /** Runs a script with bash. The script finds the arguments in {@code $1}, {@code $2} and so on. */
    Result shell(String script, Object... arguments) throws Exception {
        return run("bash", "-c", script, "bash", arguments);
    }

    private ProcessBuilder builder(Map<String, String> environment, Object... command) {
        ProcessBuilder builder = new ProcessBuilder(words(command)).directory(base.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("MODELDISK_"));
        builder.environment().put("MODELDISK_CONFIG", path("no.properties").toString());
        builder.environment().put("XDG_CONFIG_HOME", path("config").toString());
        builder.environment().putAll(forAll);
        builder.environment().putAll(environment);
        builder.environment().put(MARK, mark.substring(MARK.length() + 1));
        return builder;
    }

    /** Returns the running processes of this sandbox, including their child processes. */
    List<ProcessHandle> processes() {
        return ProcessHandle.allProcesses().filter(this::isMine).toList();
    }

    private boolean isMine(ProcessHandle process) {
        try {
            String environment = Files.readString(Path.of("/proc", Long.toString(process.pid()), "environ"),
                StandardCharsets.ISO_8859_1);
            return List.of(environment.split("\0")).contains(mark);
        } catch (IOException e) {
            // The process has exited or belongs to another user.
            return false;
        }
    }

    /** Returns the mount points in this sandbox. */
    List<String> mounts() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/mountinfo"), StandardCharsets.ISO_8859_1).stream()
            .map(line -> line.split(" ")[4]).filter(place -> place.startsWith(base + "/")).toList();
    }

    boolean isMounted(Path directory) throws IOException {
        return mounts().contains(directory.toString());
    }
}
