package io.modeldisk.system;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Map;

/** The stand-in for NVIDIA's driver that the tests of aggregators/cuda use, in place of libcuda.so.1. */
final class EmulatedDriver {
    private static final Path BUILD = Path.of(System.getProperty("project.root"), "aggregators", "cuda", "src", "test",
        "native", "build");

    private EmulatedDriver() {}

    /**
     * Compiles the library. Returns the environment variables with which a command finds it. Skips the test if this is not
     * possible.
     */
    static Map<String, String> environment(Sandbox sandbox) throws Exception {
        Programs.require("gcc", "gcc");
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "JCuda has no native library for this processor");
        Path folder = sandbox.path("driver");
        sandbox.run(BUILD.toString(), folder.resolve("libcuda.so.1").toString()).succeeded();
        return Map.of("LD_LIBRARY_PATH", folder.toString());
    }
}
