package io.modeldisk.doctor.collect;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Reads files of bounded size. */
final class Text {
    /** The maximum size of a file of the archive. */
    static final int MAX_BYTES = 1 << 20;

    /** The part of a longer text that is kept. The rest is for the line that marks the cut. */
    private static final int KEPT_BYTES = MAX_BYTES - 100;

    private Text() {}

    /** Returns the end of a file: its last whole lines, at most {@value #MAX_BYTES} bytes. */
    static String end(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException(
                Files.exists(file, LinkOption.NOFOLLOW_LINKS) ? "it is no regular file" : "it does not exist");
        }
        try (InputStream in = Files.newInputStream(file)) {
            long left = Math.max(0, Files.size(file) - KEPT_BYTES);
            in.skipNBytes(left);
            return lastLines(new String(in.readNBytes(KEPT_BYTES), StandardCharsets.UTF_8), left);
        }
    }

    /**
     * Returns the end of the output of a program: its last whole lines, at most {@value #MAX_BYTES} bytes. Reads until the
     * program has ended. If the program is killed, the JDK may close the stream during a read; then this is the end too.
     */
    static String end(InputStream output) {
        byte[] kept = new byte[2 * KEPT_BYTES];
        int length = 0;
        long left = 0;
        try {
            for (int count = 0; count >= 0; count = output.read(kept, length, kept.length - length)) {
                length += count;
                if (length == kept.length) {
                    left += KEPT_BYTES;
                    length = KEPT_BYTES;
                    System.arraycopy(kept, KEPT_BYTES, kept, 0, length);
                }
            }
        } catch (IOException e) {
            // The stream was closed.
        }
        int first = Math.max(0, length - KEPT_BYTES);
        return lastLines(new String(kept, first, length - first, StandardCharsets.UTF_8), left + first);
    }

    /** Returns a file of /proc or /sys, whose size is not known before. */
    static String ofKernel(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MAX_BYTES), StandardCharsets.ISO_8859_1);
        }
    }

    /** Returns the text without its first {@code bytes} bytes and without the rest of the line in which they end. */
    private static String lastLines(String text, long left) {
        return left == 0
            ? text
            : "[" + left + " bytes and the rest of their last line are left out]\n"
                + text.substring(text.indexOf('\n') + 1);
    }

    /** Returns the end of a text that is longer than a file of the archive may be. */
    static String shorten(String text) {
        int left = text.length() - KEPT_BYTES;
        return text.length() <= MAX_BYTES ? text : lastLines(text.substring(left), left);
    }
}
