package io.modeldisk.platform.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Small text files in which the kernel states figures. */
final class TextFile {
    /** There is no such file, line or number. */
    static final long NO_NUMBER = -1;

    private TextFile() {}

    /** The lines; none if the file cannot be read. */
    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The number in a file that holds nothing else; {@link #NO_NUMBER} for a word such as {@code max}. */
    static long number(Path file) {
        return number(file, "");
    }

    /** The number, from 0, in the first line with this prefix, with or without the unit kB; {@link #NO_NUMBER} without one. */
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
