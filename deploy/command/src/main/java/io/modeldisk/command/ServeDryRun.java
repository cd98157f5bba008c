package io.modeldisk.command;

import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.server.DiskBudget;
import io.modeldisk.server.MemoryBudget;
import io.modeldisk.server.ServerContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Prints the resources that a shard would need, and whether this machine has them. Serves and writes nothing. The needed
 * memory is computed in the same way as for the check at the start of a shard.
 */
final class ServeDryRun {
    /** The bytes that a network of 10 Gbit/s moves in a second, in each direction. */
    private static final double TEN_GIGABIT_BYTES = 1.25e9;

    private final ServerContext context;
    private final ModelFacts facts;
    /** The reasons why the shard could not start on this machine. */
    private final List<String> misfits = new ArrayList<>();

    /** Creates a dry run. {@link ServerContext#conclude} must have been called. */
    ServeDryRun(ServerContext context) {
        this.context = context;
        this.facts = context.facts();
    }

    /** Prints the shard, and the memory and disk space that it needs. */
    void printNeeds() throws IOException {
        line("shard %d/%d of model %s: %s in %d blocks of %s, %s, %s, %s", facts.shard(), facts.shards(),
            facts.model(), ByteSize.format(facts.bytesOfShard()), facts.blocksOfShard(),
            ByteSize.format(facts.blockSizeBytes()), facts.aggregator(), facts.consistency(),
            Plural.counted(facts.learners(), "learner"));
        printMemory();
        if (context.checkpoints != null) {
            printDisk(context.checkpoints.state());
        }
        double traffic = (double) facts.learners() * facts.bytesOfShard();
        line("%nnetwork, in each direction, when each learner pushes and pulls once in float32%n  %-28s %20s  %s",
            "traffic",
            PlainText.format("%.0f", traffic), PlainText.format("%s, %.2f s at 10 Gbit/s", ByteSize.format(traffic),
                traffic / TEN_GIGABIT_BYTES));
    }

    private void printMemory() {
        MemoryBudget budget = MemoryBudget.of(context);
        long heapBytes = budget.heapBytes(facts.learners());
        long maxHeapBytes = Runtime.getRuntime().maxMemory();
        MemoryLimit limit = MemoryLimit.ofThisProcess();
        line("%nmemory");
        budget.parts().stream().filter(part -> part.bytes() > 0)
            .forEach(part -> bytes(part.purpose(), part.bytes(), ""));
        bytes("Java heap", heapBytes, ", limited to " + ByteSize.format(maxHeapBytes));
        bytes("total", budget.bytes(facts.learners()), "; " + limit.describe());
        try {
            budget.check(facts.learners(), maxHeapBytes, limit);
        } catch (IllegalArgumentException | IOException e) {
            misfits.add(e.getMessage());
        }
    }

    private void printDisk(Path state) throws IOException {
        DiskBudget budget = DiskBudget.of(context);
        long checkpoints = budget.checkpoints() * budget.checkpointBytes();
        long journals = budget.journals() * budget.journalBytes();
        Path journal = state.resolve("journal");
        line("%ndisk in %s, for all shards of the model", state);
        bytes("checkpoints", checkpoints,
            PlainText.format(", %d of %s", budget.checkpoints(), ByteSize.format(budget.checkpointBytes())));
        if (journals > 0) {
            bytes("journals", journals, ", at most");
        }
        // The journal can have a separate disk, which is mounted on its directory.
        if (Files.getFileStore(existing(journal)).equals(Files.getFileStore(existing(state)))) {
            checkDisk(state, budget.bytes(), usedBytes(state));
        } else {
            checkDisk(state, checkpoints, usedBytes(state) - usedBytes(journal));
            checkDisk(journal, journals, usedBytes(journal));
        }
    }

    private void checkDisk(Path directory, long neededBytes, long usedBytes) throws IOException {
        Path existing = existing(directory);
        long freeBytes = Files.getFileStore(existing).getUsableSpace();
        bytes("total", neededBytes, PlainText.format("; %s has %s, and its file system has %s free", directory,
            ByteSize.format(usedBytes), ByteSize.format(freeBytes)));
        if (!Files.isDirectory(existing) || !Files.isWritable(existing)) {
            misfits.add("--state: " + existing + " is not a directory to which this user can write");
        }
        if (neededBytes - usedBytes > freeBytes) {
            misfits.add(PlainText.format(
                "%s needs %s of disk, but it has %s and its file system has %s free; use another disk,"
                    + " or a lower --keep or --journal-limit",
                directory, ByteSize.format(neededBytes),
                ByteSize.format(usedBytes), ByteSize.format(freeBytes)));
        }
    }

    /** Returns the first existing directory of a path and its parents. */
    private static Path existing(Path path) {
        Path at = path.toAbsolutePath();
        while (!Files.exists(at)) {
            at = at.getParent();
        }
        return at;
    }

    private static long usedBytes(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            return files.map(Path::toFile).filter(file -> file.isFile()).mapToLong(file -> file.length()).sum();
        } catch (UncheckedIOException e) {
            // A shard that is running can delete an old checkpoint meanwhile.
            throw e.getCause();
        }
    }

    /**
     * Prints an address on which the shard would listen, and tries to listen there.
     *
     * @param purpose the component that would listen there, such as a datamover
     */
    void printAddress(String purpose, InetSocketAddress address) {
        line("  %-28s %s", purpose, TargetAddress.text(address) + (address.getPort() == 0 ? " (a free port)" : ""));
        try (ServerSocketChannel channel = ServerSocketChannel.open()) {
            channel.bind(address);
        } catch (IOException e) {
            misfits.add("cannot listen on " + TargetAddress.text(address) + ": " + e.getMessage());
        }
    }

    /** Prints a path, or another place, that the shard would use. */
    void printPlace(String purpose, Object place) {
        line("  %-28s %s", purpose, place);
    }

    /** Prints whether the shard fits. Returns the exit status of the command: 1 if it does not fit. */
    int conclude() {
        line("%n%s",
            misfits.isEmpty() ? "this machine has what the shard needs" : "this machine cannot serve the shard");
        misfits.forEach(misfit -> System.err.println("modeldisk serve: " + misfit));
        return misfits.isEmpty() ? 0 : 1;
    }

    private static void bytes(String what, long bytes, String note) {
        line("  %-28s %20d  %s%s", what, bytes, ByteSize.format(bytes), note);
    }

    static void line(String format, Object... values) {
        System.out.println(PlainText.format(format, values));
    }
}
