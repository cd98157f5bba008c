package io.modeldisk.system;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** An emulation of NVIDIA's driver library libcuda.so.1. The source code is in the tests of aggregators/cuda. */
final class EmulatedDriver {
    private static final Path BUILD = Path.of(System.getProperty("project.root"), "aggregators", "cuda", "src", "test",
        "native", "build");

    private EmulatedDriver() {}

    /** Holds the folder of the emulated library, which is compiled once for all tests. */
    private static final class Built {
        static final Path FOLDER = build();

        private static Path build() {
            try {
                Path folder = Path.of(System.getProperty("project.root"), "deploy/image/target/emulated-driver");
                Process build = new ProcessBuilder(BUILD.toString(), folder.resolve("libcuda.so.1").toString())
                    .inheritIO()
                    .start();
                if (build.waitFor() != 0) {
                    throw new IllegalStateException(BUILD + " failed");
                }
                return folder;
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /**
     * Returns the environment variables with which a command loads the emulated library. Skips the test without gcc, or if JCuda
     * does not support the processor.
     */
    static Map<String, String> environment() {
        Programs.require("gcc", "gcc");
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "JCuda has no native library for this processor");
        return Map.of("LD_LIBRARY_PATH", Built.FOLDER.toString());
    }
}
