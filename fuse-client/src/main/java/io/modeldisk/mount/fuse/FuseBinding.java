package io.modeldisk.mount.fuse;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ServiceLoader;

/**
 * An implementation of FUSE, which mounts file systems and serves them from this process. {@link ServiceLoader} finds the binding
 * {@code jnr}, so that its libraries are on the class path only if it is used. Thread-safe.
 */
public interface FuseBinding {
    /** The default: the fastest binding. */
    String DEFAULT = "kernel";

    /**
     * Returns the binding with this name: {@code kernel} or {@code jnr}.
     *
     * @throws IllegalArgumentException for any other name, and for a binding that is not installed
     */
    static FuseBinding named(String name) {
        return switch (name) {
            case "kernel" -> new KernelBinding();
            case "jnr" -> ServiceLoader.load(FuseBinding.class).findFirst().orElseThrow(FuseBinding::withoutLibraries);
            default -> throw new IllegalArgumentException("binding=" + name + " must be one of kernel, jnr");
        };
    }

    private static IllegalArgumentException withoutLibraries() {
        return new IllegalArgumentException(
            "binding=jnr needs libraries that are not on the class path; the modeldisk command adds"
                + " them, from lib/jnr of its folder, if an option, the environment or the settings file names jnr");
    }

    /** Returns the name of the binding, such as {@code kernel}. */
    String name();

    /** Returns whether this process can mount. */
    default boolean isAvailable() {
        return unavailabilityCause().isEmpty();
    }

    /** Returns the reason why this process cannot mount, with a remedy. Returns an empty string if it can mount. */
    String unavailabilityCause();

    /**
     * Mounts a file system on an existing directory and starts to serve it.
     *
     * @throws IOException if the mount fails; a failure leaves no mount
     */
    FuseSession mount(Path directory, FuseFileSystem fileSystem, FuseOptions options) throws IOException;
}
