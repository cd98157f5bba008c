package io.modeldisk.command.options;

import io.modeldisk.tuning.Tuning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The option for the tuning file. Shards and mounts have it. */
public final class TuningOption {
    private static final String NONE = "none";

    @Option(names = "--tuning", paramLabel = "FILE|none",
        description = "The file that `modeldisk tune` has written. Default: ~/.config/modeldisk/tuning.json if it exists. none: "
            + "use the built-in sizes.")
    private String file;

    /** Returns the tuned sizes. */
    public Tuning read() throws IOException {
        if (NONE.equals(file)) {
            return Tuning.BUILT_IN;
        }
        if (file != null) {
            return Tuning.read(Path.of(file));
        }
        Path usual = Tuning.defaultFile();
        return Files.exists(usual) ? Tuning.read(usual) : Tuning.BUILT_IN;
    }
}
