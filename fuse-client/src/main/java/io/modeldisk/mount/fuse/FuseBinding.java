package io.modeldisk.mount.fuse;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ServiceLoader;

/**
 * An implementation of FUSE, which mounts file systems and serves them from this process. {@link ServiceLoader} finds the
 * bindings, so the libraries of the binding {@code jnr} need to be on the class path only if this binding is used. Thread-safe.
 */
public interface FuseBinding {
    /** The name of the default binding, which is the fastest. */
    String DEFAULT = "kernel";

    /**
     * Returns the binding with this name: {@code kernel} or {@code jnr}.
     *
     * @throws IllegalArgumentException for any other name, and for a binding that is not installed
     */
    static FuseBinding named(String name) {
        for (FuseBinding binding : ServiceLoader.load(FuseBinding.class, FuseBinding.class.getClassLoader())) {
            if (binding.name().equals(name)) {
                return binding;
            }
        }
        throw new IllegalArgumentException(name.equals("jnr")
            ? "binding=jnr needs libraries that are not on the class path; the modeldisk command adds"
                + " its folder lib/jnr if an option, the environment or the settings file names jnr"
            : "binding=" + name + " must be one of kernel, jnr");
    }

    /** Returns the name of the binding, such as {@code kernel}. */
    String name();

    /** Returns the reason why this process cannot mount, with a remedy. Returns an empty string if it can mount. */
    String unavailabilityCause();

    /**
     * Mounts a file system on an existing directory and starts to serve it.
     *
     * @throws IOException if the mount fails; a failure leaves no mount
     */
    FuseSession mount(Path directory, FuseFileSystem fileSystem, FuseOptions options) throws IOException;
}
