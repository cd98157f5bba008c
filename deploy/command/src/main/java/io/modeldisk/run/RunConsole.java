package io.modeldisk.run;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes the lines of the learners and of the run to the terminal. The last line of a terminal shows the progress; other lines
 * appear above it. Thread-safe.
 */
final class RunConsole {
    private static final byte[] ERASE = "\r\u001b[K".getBytes(StandardCharsets.US_ASCII);

    private final PrintStream output;
    private final PrintStream errors;
    private final boolean terminal;
    private byte[] live = {};

    private RunConsole(PrintStream output, PrintStream errors, boolean terminal) {
        this.output = output;
        this.errors = errors;
        this.terminal = terminal;
    }

    static RunConsole ofThisProcess() {
        return new RunConsole(System.out, System.err, isTerminal(Path.of("/proc/self/fd/2")));
    }

    private static boolean isTerminal(Path descriptor) {
        try {
            String name = Files.readSymbolicLink(descriptor).toString();
            return name.startsWith("/dev/pts/") || name.startsWith("/dev/tty") || name.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns whether standard error is a terminal. {@link #progress} has an effect only on a terminal. */
    boolean isTerminal() {
        return terminal;
    }

    /** Returns the stream of the learners' standard output. */
    PrintStream output() {
        return output;
    }

    /** Returns the stream to which the learners' standard error is copied. */
    PrintStream errors() {
        return errors;
    }

    /** Writes a line of the run. */
    void say(String text) {
        byte[] line = ("run: " + text + "\n").getBytes(StandardCharsets.UTF_8);
        write(errors, new byte[0], line, line.length);
    }

    /**
     * Writes a line of a learner.
     *
     * @param length the number of bytes of {@code text} that are written
     */
    synchronized void write(PrintStream stream, byte[] prefix, byte[] text, int length) {
        erase();
        stream.write(prefix, 0, prefix.length);
        stream.write(text, 0, length);
        if (text[length - 1] != '\n') {
            stream.write('\n');
        }
        stream.flush();
        show();
    }

    /** Replaces the line that shows the progress. An empty text removes it. Does nothing unless there is a terminal. */
    synchronized void progress(String text) {
        erase();
        live = text.getBytes(StandardCharsets.UTF_8);
        show();
    }

    private void erase() {
        if (terminal && live.length > 0) {
            errors.write(ERASE, 0, ERASE.length);
            errors.flush();
        }
    }

    private void show() {
        if (terminal) {
            errors.write(live, 0, live.length);
            errors.flush();
        }
    }
}
