package io.modeldisk.platform.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * An extended attribute of a file, whose value is text. UserDefinedFileAttributeView opens the file; this class does not.
 *
 * @param file the file or directory
 * @param name the name with its namespace, such as {@code user.modeldisk.lr}
 */
public record ExtendedAttribute(Path file, String name) {
    private static final int MAX_BYTES = 4096;

    /**
     * Returns the value.
     *
     * @throws IOException if the file has no such attribute, or the value cannot be read
     */
    public String value() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(MAX_BYTES);
            long length = Errno.check("getxattr " + name + " of " + file,
                CLibrary.callForLong("getxattr", file.toString(), name, value, MAX_BYTES));
            return new String(value.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        }
    }

    /**
     * Sets the value.
     *
     * @throws IOException if the file system refuses the change
     */
    public void set(String text) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocateFrom(text);
            Errno.check("setxattr " + name + " of " + file,
                CLibrary.call("setxattr", file.toString(), name, value, value.byteSize() - 1, 0));
        }
    }
}
