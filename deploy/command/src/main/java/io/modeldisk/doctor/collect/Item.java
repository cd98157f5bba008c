package io.modeldisk.doctor.collect;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * A file of the archive.
 *
 * @param name the name of the file, such as {@code kernel/limits.txt}
 * @param text reads the content, which is masked afterwards; it may fail, and may take longer than it is allowed to
 */
public record Item(String name, Callable<String> text) {
    /** Returns an item for a file or a folder that cannot be read, so that the archive names it. */
    static Item unreadable(String name, Exception reason) {
        return new Item(name, () -> {
            throw new IOException("it cannot be read: " + reason, reason);
        });
    }
}
