package io.modeldisk.bench.shard;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;

/** Closes resources in reverse order. Not thread-safe. */
public final class Closing implements AutoCloseable {
    private static final String DEVICE = "unix:dev";

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Adds a resource, and returns it. */
    public <T extends AutoCloseable> T add(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    /** Creates a temporary directory (java.io.tmpdir), which is deleted with its contents unless something is mounted there. */
    public Path folder() throws IOException {
        Path folder = Files.createTempDirectory("modeldisk-bench");
        add(() -> {
            try (Stream<Path> files = Files.walk(folder)) {
                List<Path> all = files.sorted(Comparator.reverseOrder()).toList();
                for (Path directory : all.stream().filter(Files::isDirectory).toList()) {
                    if (!Files.getAttribute(directory, DEVICE).equals(Files.getAttribute(folder, DEVICE))) {
                        throw new IOException(directory + " is still a mount, so " + folder + " is not deleted");
                    }
                }
                for (Path file : all) {
                    Files.delete(file);
                }
            }
        });
        return folder;
    }

    /**
     * Closes all resources. If a resource cannot be closed, the others are closed nevertheless, and then an exception reports the
     * first failure.
     */
    @Override
    public void close() throws IOException {
        IOException failed = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                failed = failed == null
                    ? new IOException("a resource of the benchmark could not be closed: " + e.getMessage(), e)
                    : failed;
            }
        }
        if (failed != null) {
            throw failed;
        }
    }
}
