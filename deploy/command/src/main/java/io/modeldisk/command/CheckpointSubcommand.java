package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.striping.ShardLocator;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code modeldisk checkpoint}. */
@Command(name = "checkpoint", mixinStandardHelpOptions = true, showDefaultValues = true,
    description = {"Takes a checkpoint of a model now, and prints its folder.",
        "The shards write it to the directory that their option --state names. Training goes on meanwhile. With --to, the "
            + "command then copies it. For this, the directory of --state must be readable at the same path on the machine of "
            + "the command, as with a network file system."})
final class CheckpointSubcommand implements Callable<Integer> {
    private static final long PERIOD_MS = 50;

    @Parameters(paramLabel = ModelLocators.FORMS, description = ModelLocators.DESCRIPTION)
    private String address;

    @Option(names = "--timeout", paramLabel = "TIME", defaultValue = "60s",
        description = "The time after which the command fails. The shards may still complete the checkpoint.")
    private Duration timeout;

    @Option(names = "--to", paramLabel = "DIR",
        description = "Copy the checkpoint to this directory of the command's machine, and print the folder of the copy. The "
            + "copy is independent of --state and --keep of the shards.")
    private Path to;

    @Mixin
    private LoginSecrets secrets;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (to != null && !Files.isDirectory(to)) {
            throw new IllegalArgumentException("--to " + to + " is not a directory; create it first");
        }
        NanoClock clock = NanoClock.SYSTEM;
        long endNs = clock.nanoTime() + timeout.toNanos();
        try (ShardLocator shards = ModelLocators.open(address);
            StripedModel model = StripedModel.connect(new StripedModelContext(shards)
                .learner(LearnerLabel.unique("checkpoint")).sessions(secrets.session()))) {
            long request = model.requestCheckpoint();
            JsonNode checkpoint = newest(model);
            while (checkpoint.path("answered").asLong() < request) {
                if (clock.nanoTime() - endNs > 0) {
                    throw new IOException("the checkpoint is not complete after " + DurationText.format(timeout)
                        + "; a shard may have stopped, or in bsp the open round has not closed (see `modeldisk status`)");
                }
                clock.sleep(PERIOD_MS, TimeUnit.MILLISECONDS);
                checkpoint = newest(model);
            }
            if (checkpoint.has("failure")) {
                throw new IOException(
                    "the shards could not write the checkpoint: " + checkpoint.path("failure").asText());
            }
            Path folder = Path.of(checkpoint.path("path").asText());
            System.out.println(to == null ? folder : copy(folder, checkpoint.path("at").asText()));
        }
        return 0;
    }

    /** Copies a checkpoint to {@link #to}, and returns the folder of the copy. The folder exists only if it is complete. */
    private Path copy(Path from, String at) throws IOException {
        requireReadable(from, at);
        Path target = to.toRealPath().resolve(from.getFileName());
        if (Files.exists(target)) {
            throw new IOException("the checkpoint " + from + " is complete, but is not copied, because " + target
                + " exists; give another directory with --to");
        }
        Path building = Files
            .createDirectory(to.resolve("." + from.getFileName() + "." + ProcessHandle.current().pid()));
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Path copy = Files.copy(file, building.resolve(file.getFileName()));
                sync(copy, StandardOpenOption.WRITE);
            }
            sync(building, StandardOpenOption.READ);
            Files.move(building, target, StandardCopyOption.ATOMIC_MOVE);
            sync(to, StandardOpenOption.READ);
            return target;
        } catch (IOException e) {
            delete(building);
            throw new IOException(
                "the checkpoint " + from + " is complete, but cannot be copied to " + to + ": " + e, e);
        }
    }

    private static void requireReadable(Path from, String at) throws IOException {
        String facts;
        try {
            facts = Files.readString(from.resolve("checkpoint.json"));
        } catch (NoSuchFileException e) {
            facts = "";
        }
        if (!facts.contains('"' + at + '"')) {
            throw new IOException("the checkpoint is complete in " + from
                + " of the shards, but this machine does not have"
                + " it at this path; mount the directory of --state here, or copy the folder on the machine of a shard");
        }
    }

    private static void sync(Path path, StandardOpenOption access) throws IOException {
        try (FileChannel channel = FileChannel.open(path, access)) {
            channel.force(true);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private static JsonNode newest(StripedModel model) throws IOException {
        return model.status().path(0).path("checkpoint");
    }
}
