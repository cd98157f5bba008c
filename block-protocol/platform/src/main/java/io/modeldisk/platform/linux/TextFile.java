package io.modeldisk.platform.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads small text files in which the kernel states figures. */
final class TextFile {
    /** The result if the file, the line or the number is missing. */
    static final long NO_NUMBER = -1;

    private TextFile() {}

    /** Returns the lines of a file, or an empty list if the file cannot be read. */
    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Returns the number in a file that contains nothing else. Returns {@link #NO_NUMBER} for a word such as {@code max}. */
    static long number(Path file) {
        return number(file, "");
    }

    /**
     * Returns the number in the first line that starts with {@code prefix}, without a unit kB. The number is not negative.
     * Returns {@link #NO_NUMBER} if there is no such line or number.
     */
    static long number(Path file, String prefix) {
        for (String line : lines(file)) {
            if (line.startsWith(prefix)) {
                String digits = line.substring(prefix.length()).replace("kB", "").strip();
                try {
                    return Long.parseLong(digits);
                } catch (NumberFormatException e) {
                    return NO_NUMBER;
                }
            }
        }
        return NO_NUMBER;
    }
}
