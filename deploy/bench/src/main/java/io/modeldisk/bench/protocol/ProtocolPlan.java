package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.shard.Datamovers;
import io.modeldisk.bench.shard.Durability;
import io.modeldisk.platform.Arguments;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.ModelAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The plan of {@code bench protocol}.
 *
 * @param measures the measures to run
 * @param sizes the sizes of requests; empty for the default sizes of each measure
 * @param clients the numbers of clients, nodes or sessions; empty for the default numbers of each measure
 * @param queueDepths the maximum numbers of requests in flight of one session, in each direction
 * @param gradientBytes the size of the gradient; 0 for one buffer for each request in flight
 * @param directions the directions of the throughput
 * @param aggregators the aggregators of the shard, measured one after another
 * @param datamovers the datamovers, measured in turn
 * @param durabilities the durabilities, measured one after another with each aggregator
 * @param rounds the number of measurements of each variant
 * @param duration the approximate duration of a measurement; null for the default duration of each measure
 * @param modelBytes the size of the model, which should be larger than the processor's caches
 * @param running a shard that is already running; null to start shards
 * @param baseline the address of the baseline server of a running shard
 */
public record ProtocolPlan(
    Set<Measure> measures, List<Integer> sizes, List<Integer> clients, List<Integer> queueDepths, long gradientBytes,
    List<Direction> directions, List<String> aggregators, Datamovers datamovers, List<Durability> durabilities,
    int rounds, Duration duration, long modelBytes, ModelAddress running, InetSocketAddress baseline) {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final int LARGEST_REQUEST_BYTES = 8 * MIB;
    private static final int MOST_CLIENTS = 4096;

    /** The measurements of {@code bench protocol}. */
    public enum Measure {
        /** The bytes that one session with many requests in flight moves in a second. */
        THROUGHPUT(List.of(4 * KIB, 32 * KIB, 256 * KIB, MIB, 4 * MIB), List.of(), Duration.ofMillis(250)),
        /** The time from the start to the completion of one request. */
        LATENCY(List.of(2, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB, 8 * MIB), List.of(), Duration.ofMillis(250)),
        /** The requests per second that one server answers to many clients, each with one request in flight. */
        FAN_IN(List.of(4 * KIB), List.of(4, 8, 16, 32, 64), Duration.ofMillis(250)),
        /** Transfers between nodes that are servers and clients of each other. */
        MESH(List.of(2 * MIB, 4 * MIB, 8 * MIB), List.of(4), Duration.ofMillis(250)),
        /** The throughput of many sessions that push and pull, without and with sessions that read nothing. */
        SESSIONS(List.of(256 * KIB), List.of(256), Duration.ofSeconds(30));

        private final List<Integer> sizes;
        private final List<Integer> clients;
        private final Duration duration;

        Measure(List<Integer> sizes, List<Integer> clients, Duration duration) {
            this.sizes = sizes;
            this.clients = clients;
            this.duration = duration;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException if a value is out of range; the message contains the value and the range
     */
    public ProtocolPlan {
        boolean blocks = measures.stream().anyMatch(measure -> measure != Measure.LATENCY);
        for (int bytes : sizes) {
            Arguments.require(bytes >= 1 && bytes <= Math.min(LARGEST_REQUEST_BYTES, modelBytes),
                "--sizes " + bytes + " must be from 1 byte to 8 MiB and at most the size of the model");
            Arguments.require(!blocks || bytes % LogicalBlock.BYTES == 0,
                "--sizes " + bytes + " must be a multiple of 4096, except for --measures latency alone");
        }
        for (int count : clients) {
            Arguments.require(count >= 1 && count <= MOST_CLIENTS,
                "--clients " + count + " must be from 1 to " + MOST_CLIENTS);
            Arguments.require(count >= 2 || !measures.contains(Measure.MESH),
                "--clients 1 is too few nodes for --measures mesh; give at least 2");
        }
        // The gradient is in one slab, so no request crosses a slab boundary.
        Arguments.require(gradientBytes <= DataMemory.SLAB_BYTES,
            "--gradient-size " + gradientBytes + " must be at most 1 GiB");
        Arguments.require(running == null || Set.of(Measure.THROUGHPUT, Measure.LATENCY).containsAll(measures),
            "--running allows only --measures throughput,latency");
        Arguments.require((running == null) == (baseline == null), "--running and --baseline must be given together");
        Arguments.require(modelBytes >= StoppedReader.REQUEST_BYTES || !measures.contains(Measure.SESSIONS),
            "--model-size " + modelBytes + " must be at least 8 MiB for --measures sessions");
        Arguments.require(modelBytes >= MIB && modelBytes % LogicalBlock.BYTES == 0,
            "--model-size " + modelBytes + " must be a multiple of 4096 of at least 1 MiB");
    }

    /** Returns the request sizes of a measure. By default, requests larger than the model are left out. */
    public List<Integer> sizesOf(Measure measure) {
        return sizes.isEmpty() ? measure.sizes.stream().filter(bytes -> bytes <= modelBytes).toList() : sizes;
    }

    /** Returns the numbers of clients, nodes or sessions of a measure. */
    public List<Integer> clientsOf(Measure measure) {
        return clients.isEmpty() ? measure.clients : clients;
    }

    /** Returns the duration of one run in a measure. */
    long runMs(Measure measure) {
        return (duration == null ? measure.duration : duration).toMillis();
    }

    /** Returns a load of one request for each combination of direction, queue depth and request size. */
    List<Load> loads() {
        List<Load> loads = new ArrayList<>();
        for (Direction direction : directions) {
            for (int depth : queueDepths) {
                for (int bytes : sizesOf(Measure.THROUGHPUT)) {
                    loads.add(new Load(direction, bytes, depth, 1, gradientBytes));
                }
            }
        }
        return loads;
    }

    /** The size of the memory that one session needs for its requests in flight, in any load and in the warm-up. */
    long bufferBytes() {
        long most = Math.max(4L * MIB, bufferBytes(Measure.LATENCY));
        for (Load load : loads()) {
            most = Math.max(most, (long) load.requestBytes() * load.queueDepth() * load.direction().ways());
        }
        return most;
    }

    /** The size of the memory for the largest request of a measure and of its warm-up. */
    int bufferBytes(Measure measure) {
        return Math.max(64 * KIB, Collections.max(sizesOf(measure)) + LogicalBlock.BYTES);
    }
}
