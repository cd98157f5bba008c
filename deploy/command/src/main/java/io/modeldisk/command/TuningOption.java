package io.modeldisk.command;

import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.tuning.PinnedSizes;
import io.modeldisk.tuning.Tuning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options for the tuning file and the eager size. Shards and mounts have these options. */
final class TuningOption {
    private static final String NONE = "none";

    @Option(names = "--tuning", paramLabel = "FILE|none",
        description = "The file that `modeldisk tune` has written. Default: ~/.config/modeldisk/tuning.json if it exists. none: "
            + "use the built-in sizes.")
    private String file;

    @Option(names = "--eager", paramLabel = "BYTES",
        description = "The maximum length of the data that a write sends with its command (ImmediateData, FirstBurstLength), "
            + "instead of the tuned size: 0, or 512 bytes to 256 KiB. Over iser it is at most 8 KiB, over shm always 0.")
    private ByteSize eager;

    /** Returns the tuned sizes. The size of --eager replaces the tuned eager size. */
    Tuning read() throws IOException {
        return read(null, null);
    }

    /**
     * Returns the tuned sizes. A size that an option sets replaces the tuned size.
     *
     * @param requestSize the value of --request-size; null if the option is not set
     * @param queueDepth the value of --queue-depth; null if the option is not set
     */
    Tuning read(ByteSize requestSize, Integer queueDepth) throws IOException {
        return file()
            .pinned(new PinnedSizes(bytes("--eager", eager), bytes("--request-size", requestSize), queueDepth));
    }

    private Tuning file() throws IOException {
        if (NONE.equals(file)) {
            return Tuning.BUILT_IN;
        }
        if (file != null) {
            return Tuning.read(Path.of(file));
        }
        Path usual = Tuning.defaultFile();
        return Files.exists(usual) ? Tuning.read(usual) : Tuning.BUILT_IN;
    }

    private static Integer bytes(String option, ByteSize count) {
        if (count == null) {
            return null;
        }
        if (count.bytes() > TransferSizes.MAX_REQUEST_BYTES) {
            throw new IllegalArgumentException(option + " " + count.bytes() + " must be at most "
                + TransferSizes.MAX_REQUEST_BYTES);
        }
        return (int) count.bytes();
    }
}
