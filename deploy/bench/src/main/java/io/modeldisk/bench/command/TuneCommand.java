package io.modeldisk.bench.command;

import io.modeldisk.bench.load.Progress;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.bench.shard.Datamovers;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.bench.tuning.Tuner;
import io.modeldisk.command.ExitStatus;
import io.modeldisk.command.Subcommand;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.tuning.Tuning;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code modeldisk tune}. */
@Command(name = "tune", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:The file is written.",
        "1:A measurement has failed, no datamover is available, or the file cannot be written.",
        ExitStatus.WRONG},
    description = {
        "Finds the best transfer sizes for each datamover of this machine, and writes them to a file that `serve` and "
            + "`mount` read. The sizes are: the maximum length of the data that a write sends with its command "
            + "(eagerBytes), the maximum size of a request of `mount` that covers several neighbouring blocks "
            + "(requestBytes), and the maximum number of requests of `mount` in flight to each shard (queueDepth).",
        "`tune` starts a shard in a separate process. The built-in requestBytes and queueDepth are replaced only if the "
            + "throughput increases by at least 5 %%."},
    footer = {"", "Example:", "  modeldisk tune && \\",
        "      modeldisk mount modeldisk://127.0.0.1:3260/digits /mnt/digits"})
public final class TuneCommand implements Callable<Integer>, Subcommand {
    private static final long LEAST_MODEL_BYTES = 8 << 20;
    private static final long MOST_MODEL_BYTES = 1 << 30;
    private static final int MOST_ROUNDS = 1000;

    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "tcp,shm,iser",
        description = "One or more of tcp, shm and iser. A message names each datamover that is unavailable.")
    private List<String> datamovers;

    @Option(names = "--out", paramLabel = "FILE",
        description = "The file to write. Default: ~/.config/modeldisk/tuning.json, which serve and mount read.")
    private Path out;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "7",
        description = "The number of measurements of each size. The measurements of the sizes alternate.")
    private int rounds;

    @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "64MiB",
        description = "The size of the shard's model: 8 MiB to 1 GiB.")
    private ByteSize modelSize;

    @Override
    public Integer call() throws IOException {
        Arguments.require(rounds >= 1 && rounds <= MOST_ROUNDS, "--rounds " + rounds + " must be from 1 to 1000");
        Arguments.require(
            modelSize.bytes() >= LEAST_MODEL_BYTES && modelSize.bytes() <= MOST_MODEL_BYTES
                && modelSize.bytes() % LEAST_MODEL_BYTES == 0,
            "--model-size " + modelSize.bytes() + " must be a positive multiple of 8 MiB up to 1 GiB");
        Datamovers available = Datamovers.named(datamovers);
        available.missing().forEach(System.out::println);
        if (available.present().isEmpty()) {
            throw new IOException("no datamover in --datamover is available on this machine");
        }
        Map<String, TransferSizes> found = new TreeMap<>();
        try (BenchShard shard = BenchShard.start(Durability.MEMORY, "null", modelSize.bytes(), available, 0)) {
            Tuner tuner = new Tuner(shard, rounds);
            for (Route.Preference datamover : available.present()) {
                found.put(datamover.toString(), tuner.tune(datamover));
            }
            Progress.show("");
            System.out.print(tuner.report().text());
        }
        Path file = out == null ? Tuning.defaultFile() : out;
        new Tuning("of " + file, found).write(file);
        System.out.println("the transfer sizes were written to " + file);
        return 0;
    }
}
