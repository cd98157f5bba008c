package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.RdmaVerbs;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * Loads libdisni, the native part of DiSNI, from this jar. Besides DiSNI's native methods, this libdisni exports functions that
 * modeldisk calls itself.
 *
 * <p>DiSNI loads the library with {@code System.loadLibrary}, which searches only {@code java.library.path}. However, a library
 * with global symbols and a function {@code JNI_OnLoad_disni} counts as linked into the launcher (JEP 178), and then needs no
 * path. This class therefore opens libdisni with global symbols before DiSNI loads it.
 */
final class RdmaLibrary {
    private static final String RESOURCE = "libdisni.so";
    private static final int RTLD_NOW = 2;
    private static final int RTLD_GLOBAL = 0x100;
    private static final int LONGEST_MESSAGE_BYTES = 4096;

    private RdmaLibrary() {}

    /** The result of loading the library, which happens once. */
    private static final class Loaded {
        private static final Loaded ONCE = new Loaded();

        private final SymbolLookup symbols;
        private final String failure;

        private Loaded() {
            SymbolLookup found = _ -> Optional.empty();
            String reason = null;
            try {
                found = load();
            } catch (IOException | LinkageError e) {
                reason = e.getMessage();
            }
            symbols = found;
            failure = reason;
        }
    }

    /** Returns the reason why the library could not be loaded, or null if the library is loaded. */
    static String loadFailure() {
        return Loaded.ONCE.failure;
    }

    /** Returns a lookup of the functions in libdisni. If the library could not be loaded, the lookup finds no function. */
    static SymbolLookup symbols() {
        return Loaded.ONCE.symbols;
    }

    private static SymbolLookup load() throws IOException {
        if (!Object.class.getModule().isExported("sun.nio.ch", RdmaVerbs.class.getModule())) {
            throw new IOException(
                "DiSNI cannot access sun.nio.ch; start Java with --add-exports java.base/sun.nio.ch=ALL-UNNAMED");
        }
        SymbolLookup symbols = openBundled();
        if (RdmaVerbs.getVersion() == 0) {
            throw new IOException(
                "DiSNI cannot use the libdisni of this jar, because its version is wrong; build modeldisk again");
        }
        return symbols;
    }

    private static SymbolLookup openBundled() throws IOException {
        try (InputStream library = RdmaLibrary.class.getResourceAsStream(RESOURCE)) {
            if (library == null) {
                throw new IOException(
                    "modeldisk was built without libdisni, because the verbs headers were missing; on Debian, install"
                        + " libibverbs-dev and librdmacm-dev, and build modeldisk again");
            }
            Path copy = Files.createTempFile("libdisni", ".so");
            try {
                Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
                return open(copy);
            } finally {
                // The library stays in memory after its file was deleted.
                Files.delete(copy);
            }
        }
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup open(Path library) throws IOException {
        Linker linker = Linker.nativeLinker();
        SymbolLookup system = linker.defaultLookup();
        MethodHandle dlopen = linker.downcallHandle(system.findOrThrow("dlopen"),
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        MethodHandle dlerror = linker.downcallHandle(system.findOrThrow("dlerror"),
            FunctionDescriptor.of(ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocateFrom(library.toString());
            MemorySegment handle = (MemorySegment) dlopen.invokeExact(path, RTLD_NOW | RTLD_GLOBAL);
            if (handle.address() == 0) {
                MemorySegment message = (MemorySegment) dlerror.invokeExact();
                throw new IOException("libdisni cannot be loaded: "
                    + message.reinterpret(LONGEST_MESSAGE_BYTES).getString(0)
                    + "; on Debian, install librdmacm1 and ibverbs-providers");
            }
            return SymbolLookup.libraryLookup(library, Arena.global());
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a call to dlopen failed", e);
        }
    }
}
