package io.modeldisk.mount;

import io.modeldisk.mount.exchange.ExchangeScheme;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A mount in a temporary directory. The directory is deleted after the test, even if the test fails. */
final class MountFixture {
    final MemoryModel model;
    final Path base;
    final Path dir;
    final Shell shell;
    ModelMount mount;

    MountFixture(long sizeBytes) throws IOException {
        model = new MemoryModel(sizeBytes);
        base = Files.createTempDirectory("modeldisk mount").toRealPath();
        // Other users may enter this directory, so that only the mount can refuse them.
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwxr-xr-x"));
        dir = Files.createDirectory(base.resolve("m"));
        shell = new Shell(dir);
    }

    MountContext context(String exchange) {
        return new MountContext().directory(dir).remoteModel(model).exchange(ExchangeScheme.named(exchange))
            .learner("l1");
    }

    MountFixture launch(String exchange) throws IOException {
        mount = ModelMount.launch(context(exchange));
        return this;
    }

    boolean isMounted() {
        try {
            return MountTable.read().at(dir).isPresent();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    void close() throws IOException, InterruptedException {
        if (mount != null) {
            mount.close();
        }
        while (isMounted()) {
            new ProcessBuilder("umount", "-l", dir.toString()).inheritIO().start().waitFor(10, TimeUnit.SECONDS);
        }
        model.close();
        try (Stream<Path> files = Files.walk(base)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
