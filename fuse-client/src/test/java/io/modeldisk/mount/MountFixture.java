package io.modeldisk.mount;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.platform.text.EnumNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A mount in a temporary directory. The directory is deleted after the test, even if the test fails. */
final class MountFixture {
    /** A source with the characters that separate and escape options of libfuse. */
    static final String SOURCE = "modeldisk://a:1,b:2/m\\";

    /** The binding that the tests use. The module of the binding {@code jnr} runs tests of this module with that binding. */
    static final String BINDING = System.getProperty("mount.binding", FuseBinding.DEFAULT);

    final MemoryModel model;
    final Path base;
    final Path dir;
    final Shell shell;
    private final FuseBinding binding;
    ModelMount mount;

    MountFixture(long sizeBytes) {
        this(sizeBytes, FuseBinding.named(BINDING));
    }

    MountFixture(long sizeBytes, FuseBinding binding) {
        this.binding = binding;
        model = new MemoryModel(sizeBytes);
        try {
            base = Files.createTempDirectory("modeldisk mount").toRealPath();
            // Other users are allowed to enter this directory, so only the mount itself can refuse them.
            Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwxr-xr-x"));
            dir = Files.createDirectory(base.resolve("m"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        shell = new Shell(dir);
    }

    /** Returns the configuration of a mount. The test is skipped if the binding lacks a library. */
    MountContext context(String exchange) {
        assumeTrue(binding.name().equals(FuseBinding.DEFAULT) || binding.unavailabilityCause().isEmpty(),
            binding::unavailabilityCause);
        return new MountContext().directory(dir).source(SOURCE).remoteModel(model)
            .exchange(EnumNames.parse(ExchangeScheme.class, "exchange", exchange)).binding(binding);
    }

    MountFixture launch(String exchange) throws IOException {
        mount = ModelMount.launch(context(exchange));
        return this;
    }

    /**
     * Returns whether files whose content is not memory can be mapped, which needs Linux 6.6 and does not work with libfuse 2.
     */
    static boolean mapsFiles() {
        String[] release = System.getProperty("os.version").split("[.-]");
        return BINDING.equals(FuseBinding.DEFAULT)
            && Integer.parseInt(release[0]) * 100 + Integer.parseInt(release[1]) >= 606;
    }

    /** Returns the path of a Python program in the test resources. */
    static Path resource(String name) {
        return Path.of(System.getProperty("project.root"), "fuse-client/src/test/resources", name);
    }

    boolean isMounted() {
        try {
            return MountTable.read().at(dir).isPresent();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    void close() throws IOException, InterruptedException {
        model.release();
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
