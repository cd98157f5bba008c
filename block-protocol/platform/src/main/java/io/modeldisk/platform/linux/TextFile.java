package io.modeldisk.platform.linux;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads numbers from small text files of the kernel. */
final class TextFile {
    /** The value that is returned if the file, the line or the number is missing. */
    static final long NO_NUMBER = -1;

    private TextFile() {}

    /**
     * Returns the lines of a file, or an empty list if the file cannot be read. Bytes that are not UTF-8, such as a part of a
     * character at the end of a program's name, become replacement characters.
     */
    static List<String> lines(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Returns the number in a file that contains only this number. Returns {@link #NO_NUMBER} for a word such as {@code max}. */
    static long number(Path file) {
        return number(file, "");
    }

    /**
     * Returns the number that follows {@code prefix} in the first line with this prefix. Ignores a unit kB after the number.
     * Returns {@link #NO_NUMBER} if the line or the number is missing. The number in the file is not negative.
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
