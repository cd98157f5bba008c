package io.modeldisk.bench.shard;

import io.modeldisk.platform.threads.Interruption;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A child process that runs the {@code modeldisk} command. The child is terminated when this process exits. */
public final class ChildProcess implements AutoCloseable {
    private static final long END_SECONDS = 30;
    private static final Pattern READY = Pattern.compile("(?:ready|backup): .* on ([^ ,]+:\\d+)(?:, .*)?");

    private final Process process;
    private final BufferedReader output;
    private final String readyLine;
    private final Thread ender = new Thread(this::destroy, "end-child");

    private ChildProcess(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Runtime.getRuntime().addShutdownHook(ender);
        output = process.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        while (line != null && !line.startsWith("ready: ") && !line.startsWith("backup: ")) {
            line = output.readLine();
        }
        readyLine = line;
        if (line == null) {
            close();
            throw new IOException(
                "`" + String.join(" ", command) + "` exited before it was ready; see the messages above");
        }
    }

    /**
     * Starts a child process. Waits for its ready line, or for the line that announces a backup of a shard. The child inherits
     * the standard error of this process.
     *
     * @throws IOException if the child exits before it is ready
     */
    public static ChildProcess start(String... arguments) throws IOException {
        return new ChildProcess(Stream.concat(Stream.of(System.getProperty("modeldisk.command")), Stream.of(arguments))
            .toList());
    }

    /**
     * Runs a program until it exits. Returns its output.
     *
     * @throws IOException if the program does not exist or fails
     */
    public static String run(String... command) throws IOException {
        // The program runs outside of mounts, because a mount cannot be unmounted while it is a working directory.
        Process program = new ProcessBuilder(command).directory(Path.of("/").toFile()).redirectErrorStream(true)
            .start();
        Thread ender = new Thread(program::destroy, "end-child");
        Runtime.getRuntime().addShutdownHook(ender);
        try {
            String output = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (program.waitFor() != 0) {
                throw new IOException(command[0] + " failed:\n" + output);
            }
            return output;
        } catch (InterruptedException e) {
            program.destroy();
            throw Interruption.whileIt("waited for " + command[0]);
        } finally {
            Runtime.getRuntime().removeShutdownHook(ender);
        }
    }

    private void destroy() {
        process.destroy();
    }

    /**
     * Sends a line to the child, and returns the next line of its output.
     *
     * @throws IOException if the child has exited
     */
    public String ask(String line) throws IOException {
        process.outputWriter(StandardCharsets.UTF_8).append(line).append('\n').flush();
        String answer = output.readLine();
        if (answer == null) {
            throw new IOException("a process of the benchmark has exited; see the messages above");
        }
        return answer;
    }

    /**
     * The address in the ready line, {@code HOST:PORT}.
     *
     * @throws IllegalStateException if the line contains no address, because the child does not listen
     */
    public String address() {
        Matcher ready = READY.matcher(readyLine);
        if (!ready.matches()) {
            throw new IllegalStateException("the ready line has no address: " + readyLine);
        }
        return ready.group(1);
    }

    /** The process id of the child. */
    public long pid() {
        return process.pid();
    }

    /** Terminates the child and waits until it has exited. Kills a child that does not exit within 30 seconds. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            Runtime.getRuntime().removeShutdownHook(ender);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        } catch (IllegalStateException e) {
            // This process is already exiting, so its shutdown hook also terminates the child.
            process.destroy();
        }
    }
}
