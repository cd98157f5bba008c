package io.modeldisk.command;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jnr.constants.platform.OpenFlags;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;

/**
 * Starts this command again as a background process. This process waits for the ready line of the background process, prints the
 * line and exits. Until the background process is ready, it writes its errors to the terminal. When the background process is
 * ready, it detaches from the terminal.
 */
final class Background {
    static final String MARKER = "MODELDISK_IN_BACKGROUND";
    private static final int MODE = 0640;

    private Background() {}

    /** Starts the background process and waits until it is ready. Returns the exit status of this process. */
    static int start(Path log) throws IOException, InterruptedException {
        ProcessHandle.Info self = ProcessHandle.current().info();
        List<String> command = new ArrayList<>();
        command.add(self.command()
            .orElseThrow(() -> new IOException(
                "cannot start a background process: the program of this process is unknown; use --foreground")));
        command.addAll(
            List.of(self.arguments()
                .orElseThrow(() -> new IOException(
                    "cannot start a background process: the arguments of this process are unknown; use --foreground"))));
        command.add("--foreground");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put(MARKER, "1");
        // The background process becomes the main process of a service, so the watchdog watches it.
        builder.environment().remove("WATCHDOG_PID");
        if (log != null) {
            // A mount with a log file logs at level info, unless the user has set another level.
            builder.environment().put("MODELDISK_LOG_LEVEL",
                System.getenv().getOrDefault("MODELDISK_LOG_LEVEL", "info"));
        }
        Process process = builder.start();
        process.getOutputStream().close();
        Thread abandon = new Thread(process::destroy, "abandon");
        Runtime.getRuntime().addShutdownHook(abandon);
        try (BufferedReader output = new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String ready = output.readLine();
            if (ready == null) {
                return process.waitFor();
            }
            Runtime.getRuntime().removeShutdownHook(abandon);
            System.out.println(ready);
            return 0;
        }
    }

    /** If this is a background process, detaches it from the terminal and redirects its output to the log. */
    static void detachIfBackground(Path log) throws IOException {
        if (System.getenv(MARKER) == null) {
            return;
        }
        System.out.flush();
        POSIX posix = POSIXFactory.getPOSIX();
        posix.setsid();
        String file = log == null ? "/dev/null" : log.toAbsolutePath().toString();
        int flags = OpenFlags.O_WRONLY.intValue() | OpenFlags.O_CREAT.intValue() | OpenFlags.O_APPEND.intValue();
        int descriptor = posix.open(file, flags, MODE);
        if (descriptor < 0) {
            throw new IOException("cannot open the log file " + file + ": " + posix.strerror(posix.errno()));
        }
        posix.dup2(descriptor, 1);
        posix.dup2(descriptor, 2);
        posix.close(descriptor);
    }
}
