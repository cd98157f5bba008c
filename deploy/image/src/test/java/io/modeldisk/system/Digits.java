package io.modeldisk.system;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** Runs the programs of the digit classifier in deploy/examples/digits, which the quickstart trains. */
final class Digits {
    private static final Path FOLDER = Path.of(System.getProperty("project.root"), "deploy/examples/digits");
    /** With one thread, numpy gives the same result in every run, and leaves processor time for the mounts and shards. */
    private static final Map<String, String> ENVIRONMENT = Map.of("OPENBLAS_NUM_THREADS", "1",
        "PYTHONDONTWRITEBYTECODE", "1");

    private Digits() {}

    /** Starts a learner that trains through a file of a mount. */
    static Running learner(Sandbox sandbox, Path file, int iterations, Object... options) throws IOException {
        return sandbox.start("learner", ENVIRONMENT, "/usr/bin/python3", FOLDER.resolve("learner.py"), "--file", file,
            "--iterations", iterations, options);
    }

    /** Runs a program and returns its output. */
    static String run(Sandbox sandbox, String program, Path argument) throws Exception {
        return sandbox.run(ENVIRONMENT, "/usr/bin/python3", FOLDER.resolve(program), argument).succeeded();
    }
}
