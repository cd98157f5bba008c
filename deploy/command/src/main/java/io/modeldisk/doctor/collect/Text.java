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

    private Text() {}

    /** Returns the end of a file: its last whole lines, at most {@value #MAX_BYTES} bytes. */
    static String end(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException(
                Files.exists(file, LinkOption.NOFOLLOW_LINKS) ? "it is no regular file" : "it does not exist");
        }
        try (InputStream in = Files.newInputStream(file)) {
            long left = Files.size(file) - MAX_BYTES;
            if (left > 0) {
                in.skipNBytes(left);
            }
            return lastLines(new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8), Math.max(0, left));
        }
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
        int left = text.length() - MAX_BYTES;
        return left <= 0 ? text : lastLines(text.substring(left), left);
    }
}
