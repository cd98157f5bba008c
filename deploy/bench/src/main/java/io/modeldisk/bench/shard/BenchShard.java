package io.modeldisk.bench.shard;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The shard that a benchmark measures. The benchmark either starts the shard and checks its weights and counters, or uses a
 * running shard and pushes only zeros to it.
 */
public final class BenchShard implements AutoCloseable {
    /** The listening address of shards that only this machine can reach. */
    public static final String LOOPBACK = "127.0.0.1";

    private static final String MODEL = "bench";
    /** The period of checkpoints. It is so long that no checkpoint falls into a measurement. */
    private static final String NEVER = "24h";
    private static final int CHUNK_BYTES = 1 << 20;
    /**
     * The number of sessions in addition to the measured sessions: the session of {@link #model}, and sessions that are still
     * closing.
     */
    private static final int OWN_SESSIONS = 8;
    /** The size of the buffers that the shard needs for each session. */
    private static final long BUFFERS_OF_SESSION_BYTES = 512 << 10;

    /** The process of the shard; null if the benchmark did not start it. */
    private final ShardProcesses processes;
    private final IserProvider.Connections iserConnections = IserProvider.find().connections();
    private final InetSocketAddress portal;
    private final StripedModel model;

    private BenchShard(ShardProcesses processes, ModelAddress address) throws IOException {
        this.processes = processes;
        this.portal = address.shards().getFirst();
        this.model = StripedModel.connect(new StripedModelContext(address)
            .learner("bench-observer-" + ProcessHandle.current().pid()));
    }

    /** Returns the address ranges that contain only this machine: loopback, which shared memory uses, and {@code address}. */
    private static List<String> thisMachine(String address) {
        return List.of(LOOPBACK + "/32", address + "/32");
    }

    /** Returns the options of {@code serve} for a shard that only this machine can reach. */
    public static List<String> listening(Datamovers datamovers) throws IOException {
        String address = datamovers.address();
        List<String> options = new ArrayList<>(
            List.of("--listen", address + ":0", "--datamover", datamovers.serveOption()));
        if (!address.equals(LOOPBACK)) {
            options.addAll(List.of("--insecure", "--allow-address", String.join(",", thisMachine(address))));
        }
        return options;
    }

    /**
     * Starts a shard that only this machine can reach, and fills the shard with the weights of {@link Pattern}.
     *
     * @param sessions the least number of sessions that the shard accepts
     */
    public static BenchShard start(
        Durability durability, String aggregator, long modelBytes, Datamovers datamovers, int sessions)
        throws IOException {
        int most = Math.max(TargetContext.DEFAULT_MAX_CONNECTIONS, sessions + OWN_SESSIONS);
        long buffers = Math.max(TargetContext.DEFAULT_BUFFER_BYTES, most * BUFFERS_OF_SESSION_BYTES);
        List<String> arguments = new ArrayList<>(List.of("--model", MODEL, "--size", Long.toString(modelBytes),
            "--aggregator", aggregator, "--consistency", "asp", "--tuning", "none", "--max-sessions",
            Integer.toString(most), "--buffers",
            Long.toString(buffers)));
        arguments.addAll(listening(datamovers));
        ShardProcesses processes = ShardProcesses.start(durability, NEVER, 1, arguments);
        try {
            BenchShard shard = new BenchShard(processes, new ModelAddress(processes.portals(), MODEL));
            fill(shard.model);
            return shard;
        } catch (IOException | RuntimeException e) {
            processes.close();
            throw e;
        }
    }

    /** Connects to a shard that is already running. */
    public static BenchShard running(ModelAddress address) throws IOException {
        return new BenchShard(null, address);
    }

    /** Writes the weights of {@link Pattern} to a model that has one shard. */
    private static void fill(StripedModel model) throws IOException {
        long size = model.facts().bytesOfShard();
        try (DataMemory chunk = DataMemory.allocate(CHUNK_BYTES)) {
            for (long at = 0; at < size; at += CHUNK_BYTES) {
                long length = Math.min(CHUNK_BYTES, size - at);
                Pattern.fill(chunk, 0, at, length);
                model.write(at, chunk, 0, length, Cancellation.NONE);
            }
        }
    }

    /** The address that the shard listens on. */
    public InetSocketAddress portal() {
        return portal;
    }

    /** The address of the shard's model, as users write it. */
    public String address() {
        return "modeldisk://" + TargetAddress.text(portal) + "/" + facts().model();
    }

    /** Returns the portal that connects to the shard over a datamover. */
    public InitiatorPortal over(Route.Preference datamover) {
        return Route.choose(datamover, portal, ModelFacts.TARGET_PREFIX + facts().model(),
            SocketPath.defaultDirectory(), false, iserConnections).portal();
    }

    /** The facts that the shard reports about its model. */
    public ModelFacts facts() {
        return model.facts();
    }

    /** True if the benchmark started the shard. If so, no other learner pushes to the shard. */
    public boolean isOwn() {
        return processes != null;
    }

    /** The number of pushed and pulled bytes that the shard has counted. */
    public long movedBytes() throws IOException {
        JsonNode status = model.status().path(0);
        return status.path("pushedBytes").asLong() + status.path("pulledBytes").asLong();
    }

    /**
     * Returns whether the weights stay those of {@link Pattern}. This is true if the benchmark started the shard, and gradients
     * of zero do not change the weights.
     */
    public boolean knowsWeights() {
        if (!isOwn()) {
            return false;
        }
        int bytes = LogicalBlock.BYTES;
        try (
            Aggregator aggregator = Aggregators.parse(facts().aggregator());
            DataMemory weights = DataMemory.allocate(bytes);
            DataMemory gradient = DataMemory.allocate(bytes);
            DataMemory state = DataMemory.allocate(Math.max(1, aggregator.stateBytesPerLogicalBlock()))) {
            // The second logical block has the weight 1.
            Pattern.fill(weights, 0, bytes, bytes);
            aggregator.aggregate(new Block(weights.slab(0), state.slab(0), 1), 0, gradient.slab(0), 0, bytes, 1);
            Pattern.check(weights, 0, bytes, bytes);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private record Block(MemorySegment weights, MemorySegment state, long round) implements BlockMemory {}

    /** Returns the resident memory of a shard that the benchmark started. */
    public long residentBytes() throws IOException {
        Path status = Path.of("/proc", Long.toString(processes.first().pid()), "status");
        return Files.readAllLines(status).stream().filter(line -> line.startsWith("VmRSS:")).findFirst()
            .map(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
            .orElseThrow(
                () -> new IOException("the process of the shard has exited, so its memory cannot be measured"));
    }

    @Override
    public void close() {
        model.close();
        if (processes != null) {
            processes.close();
        }
    }
}
