package io.modeldisk.mount.fuse.jnr;

import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.FuseFileSystem;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.mount.fuse.kernel.KernelBinding;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;

/**
 * Mounts with libfuse 2 and jnr-fuse. This binding is slower than {@link KernelBinding}, but depends only on the interface of
 * libfuse, which is the same for every kernel. Requests have at most 128 KiB, files cannot be mapped, and files whose content is
 * memory are symbolic links. A signal cannot end a system call that waits for the shards.
 */
public final class JnrBinding implements FuseBinding {
    /** The file name of the library. */
    static final String LIBRARY = "libfuse.so.2";

    @Override
    public String name() {
        return "jnr";
    }

    @Override
    public String unavailabilityCause() {
        String cause = new KernelBinding().unavailabilityCause();
        return cause.isEmpty() && !hasLibrary()
            ? LIBRARY + " is missing: install the package libfuse2"
            : cause;
    }

    @SuppressWarnings("restricted")
    private static boolean hasLibrary() {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup.libraryLookup(LIBRARY, arena);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    @Override
    public FuseSession mount(Path directory, FuseFileSystem fileSystem, FuseOptions options) throws IOException {
        if (options.handover().isKept()) {
            throw new IOException(
                "the binding jnr cannot hand its mount over to another process, because libfuse 2 keeps the "
                    + "state of the session; use --binding kernel");
        }
        return JnrSession.serve(directory, fileSystem, options);
    }
}
