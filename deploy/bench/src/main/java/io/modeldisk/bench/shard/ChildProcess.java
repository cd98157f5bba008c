package io.modeldisk.bench.shard;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A child process that runs the {@code modeldisk} command. The child is terminated when this process exits. */
public final class ChildProcess implements AutoCloseable {
    private static final long END_SECONDS = 30;
    private static final Pattern READY = Pattern.compile("(?:ready|backup): .* on ([^ ,]+:\\d+)(?:, .*)?");

    private final Process process;
    private final String readyLine;
    private final Thread ender;

    private ChildProcess(Process process, String readyLine, Thread ender) {
        this.process = process;
        this.readyLine = readyLine;
        this.ender = ender;
    }

    /**
     * Starts a child process. Waits for its ready line, or for the line by which a shard says that it is a backup. The child
     * inherits the standard error of this process.
     *
     * @param modeldisk the path of the command
     * @throws IOException if the child exits before it is ready
     */
    public static ChildProcess start(String modeldisk, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(modeldisk));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Thread ender = new Thread(process::destroy, "end-child");
        Runtime.getRuntime().addShutdownHook(ender);
        process.getOutputStream().close();
        BufferedReader output = new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = output.readLine();
        while (line != null && !line.startsWith("ready: ") && !line.startsWith("backup: ")) {
            line = output.readLine();
        }
        if (line == null) {
            process.destroy();
            Runtime.getRuntime().removeShutdownHook(ender);
            throw new IOException(
                "`" + String.join(" ", command) + "` exited before it was ready; see the messages above");
        }
        return new ChildProcess(process, line, ender);
    }

    /**
     * The address in the ready line, {@code HOST:PORT}.
     *
     * @throws IllegalStateException if the line has no address, because the child listens on none
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
