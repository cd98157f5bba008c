package io.modeldisk.bench.shard;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The shards of a model on this machine, each in its own process, and what their durability needs: a temporary directory
 * (java.io.tmpdir), or a coordinator and one backup for each shard. Not thread-safe.
 */
public final class ShardProcesses implements AutoCloseable {
    private static final long SYNC_LIMIT_NS = TimeUnit.MINUTES.toNanos(2);
    private static final long SYNC_PAUSE_MS = 50;

    private final List<String> options;
    private final int count;
    private List<ChildProcess> shards = List.of();
    private List<ChildProcess> backups = List.of();
    /** The coordinator and the temporary directory. */
    private final Closing opened = new Closing();

    private ShardProcesses(int count, List<String> options) {
        this.count = count;
        this.options = options;
    }

    /**
     * Starts the shards, and waits until all are ready and their backups are in sync.
     *
     * @param checkpointEvery the period of checkpoints, which has an effect only with checkpoints and journals
     * @param count the number of shards
     * @param options the options of {@code serve}, except those of the shard number and the durability
     */
    public static ShardProcesses start(
        Durability durability, String checkpointEvery, int count, List<String> options)
        throws IOException {
        ShardProcesses processes = new ShardProcesses(count, options);
        try {
            switch (durability) {
                case MEMORY -> processes.shards = processes.serve();
                case CHECKPOINT, JOURNAL -> {
                    processes.shards = processes.serve("--durability", durability.toString(), "--state",
                        processes.opened.folder().toString(), "--checkpoint-every", checkpointEvery, "--keep", "1");
                }
                case REPLICA -> processes.serveWithBackups();
            }
            return processes;
        } catch (IOException | RuntimeException e) {
            processes.close();
            throw e;
        }
    }

    private void serveWithBackups() throws IOException {
        String state = opened.folder().toString();
        ChildProcess coordinator = opened.add(
            ChildProcess.start("coordinator", "--listen", BenchShard.LOOPBACK + ":0", "--state", state));
        String[] replica = {"--durability", "replica", "--coordinator", coordinator.address()};
        shards = serve(replica);
        backups = serve(replica);
        awaitBackups();
    }

    private void awaitBackups() throws IOException {
        String model = options.get(options.indexOf("--model") + 1);
        long begun = System.nanoTime();
        try (StripedModel remote = StripedModel.connect(
            new StripedModelContext(new ModelAddress(portals(), model)).learner("bench-start"))) {
            while (!haveBackups(remote.status())) {
                if (System.nanoTime() - begun > SYNC_LIMIT_NS) {
                    throw new IOException("the backups are not in sync after "
                        + TimeUnit.NANOSECONDS.toSeconds(SYNC_LIMIT_NS) + " s: " + remote.status());
                }
                TimeUnit.MILLISECONDS.sleep(SYNC_PAUSE_MS);
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for the backups");
        }
    }

    private static boolean haveBackups(JsonNode status) {
        for (JsonNode shard : status) {
            if (!shard.path("replication").path("backups").path(0).path("inSync").asBoolean()) {
                return false;
            }
        }
        return true;
    }

    /** Starts one process for each shard, at the same time, because shards with checkpoints wait for each other. */
    private List<ChildProcess> serve(String... more) throws IOException {
        ChildProcess[] started = new ChildProcess[count];
        List<Callable<ChildProcess>> starts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            List<String> command = new ArrayList<>(List.of("serve", "--shard", i + "/" + count));
            command.addAll(options);
            command.addAll(List.of(more));
            starts.add(() -> started[number] = ChildProcess.start(command.toArray(String[]::new)));
        }
        try {
            return ClosedLoop.together(starts);
        } catch (IOException e) {
            Stream.of(started).filter(Objects::nonNull).forEach(ChildProcess::close);
            throw e;
        }
    }

    /** The addresses of the shards, in the order of their numbers. */
    public List<InetSocketAddress> portals() {
        return shards.stream().map(shard -> TargetAddress.parse(shard.address(), 0)).toList();
    }

    /** The process of the first shard. */
    ChildProcess first() {
        return shards.getFirst();
    }

    /**
     * Terminates all processes, and deletes the temporary directory.
     *
     * @throws UncheckedIOException if the directory cannot be deleted
     */
    @Override
    public void close() {
        // The backups end before the primaries, so no backup becomes a primary.
        backups.forEach(ChildProcess::close);
        shards.forEach(ChildProcess::close);
        try {
            opened.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
