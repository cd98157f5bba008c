package io.modeldisk.admin.top;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * The whole screen of the terminal on standard output, until it is closed: then the terminal shows again what it showed before.
 * Keys are not echoed. Thread-safe.
 */
public final class TerminalScreen implements AutoCloseable {
    private static final int STANDARD_OUTPUT = 1;
    /** The ioctl(2) request for the size of a terminal. */
    private static final long TIOCGWINSZ = 0x5413;
    private static final int WINSIZE_BYTES = 8;
    private static final Size DEFAULT = new Size(80, 24);
    private static final String OPEN = "\033[?1049h\033[?25l\033[2J";
    private static final String CLOSE = "\033[0m\033[?25h\033[?1049l";
    private static final Duration STTY = Duration.ofSeconds(2);

    /**
     * The size of a terminal in characters.
     *
     * @param columns the number of columns
     * @param rows the number of rows
     */
    public record Size(int columns, int rows) {}

    private final PrintStream out;
    /** The settings of the terminal before this object, as `stty -g` writes them; null if they are not known. */
    private final String settings;
    private boolean closed;

    private TerminalScreen(PrintStream out) {
        this.out = out;
        this.settings = stty("-g");
        if (settings != null) {
            stty("-icanon", "-echo", "susp", "undef");
        }
        out.print(OPEN);
        out.flush();
    }

    /** Takes the screen. The terminal gets it back when this object is closed, or when the process ends by a signal. */
    public static TerminalScreen open(PrintStream out) {
        TerminalScreen screen = new TerminalScreen(out);
        Runtime.getRuntime().addShutdownHook(new Thread(screen::close, "restore-terminal"));
        return screen;
    }

    /** Returns the size of the terminal on standard output; null if standard output is no terminal. */
    public static Size size() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(WINSIZE_BYTES);
            if (Descriptors.ioctl(STANDARD_OUTPUT, TIOCGWINSZ, size) < 0) {
                return null;
            }
            int rows = size.getAtIndex(JAVA_SHORT, 0);
            int columns = size.getAtIndex(JAVA_SHORT, 1);
            return rows <= 0 || columns <= 0 ? DEFAULT : new Size(columns, rows);
        }
    }

    /** Runs stty(1) on the terminal. Returns its output; null if it has failed. */
    private static String stty(String... arguments) {
        String[] command = new String[arguments.length + 1];
        command[0] = "stty";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        try {
            Process process = new ProcessBuilder(command).redirectInput(new File("/dev/tty"))
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            // The output is short, so that stty never waits for a reader.
            if (!FutureWait.isDoneWithin(process.onExit(), STTY, NanoClock.SYSTEM) || process.exitValue() != 0) {
                process.destroyForcibly();
                return null;
            }
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
        } catch (IOException e) {
            // Without stty, keys are echoed. Nothing else changes.
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Replaces the contents of the screen in one write, without clearing it first, so that it does not flicker. */
    public synchronized void show(List<String> lines) {
        if (closed) {
            return;
        }
        StringBuilder frame = new StringBuilder("\033[H");
        for (int i = 0; i < lines.size(); i++) {
            frame.append(i == 0 ? "" : "\r\n").append(lines.get(i)).append("\033[K");
        }
        out.print(frame.append("\033[J"));
        out.flush();
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        out.print(CLOSE);
        out.flush();
        if (settings != null) {
            stty(settings);
        }
    }
}
