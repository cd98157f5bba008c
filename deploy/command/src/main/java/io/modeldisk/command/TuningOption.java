package io.modeldisk.command;

import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.tuning.PinnedSizes;
import io.modeldisk.tuning.Tuning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Where the sizes come from that data is cut in, and what of them is pinned: alike for a shard and a mount. */
final class TuningOption {
    private static final String NONE = "none";

    @Option(names = "--tuning", paramLabel = "FILE|none",
        description = "What `modeldisk tune` has found; by default ~/.config/modeldisk/tuning.json if it is there. none: the "
            + "built-in sizes.")
    private String file;

    @Option(names = "--eager", paramLabel = "BYTES",
        description = "How much of a write travels with its command (ImmediateData, FirstBurstLength), instead of what the "
            + "tuning says: 0, or 512 bytes to 256 KiB. Over iser 8 KiB at most, and nothing over shm.")
    private ByteSize eager;

    /** What to use, with what is pinned. */
    Tuning read() throws IOException {
        return read(null, null);
    }

    /**
     * What to use, with what is pinned, here and by two other options.
     *
     * @param requestSize null if it is not pinned
     * @param queueDepth null if it is not pinned
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
