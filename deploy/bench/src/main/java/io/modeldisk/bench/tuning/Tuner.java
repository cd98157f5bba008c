package io.modeldisk.bench.tuning;

import io.modeldisk.bench.load.Progress;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import io.modeldisk.tuning.Tuning;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Finds the best transfer sizes of a datamover on this machine. For each candidate, the tuner pushes and pulls a whole model,
 * as a mount does. The measurements of the candidates alternate. Request sizes are measured with the built-in queue depth.
 * Queue depths are measured with the best request size. The eager threshold is the largest size of a push whose data is sent
 * with the command. This threshold is measured with one push at a time, since the threshold affects latency.
 */
public final class Tuner {
    private static final List<Integer> REQUESTS = List.of(256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20);
    private static final List<Integer> DEPTHS = List.of(2, 4, 8, 16, 32);
    private static final List<Integer> PUSHES = List.of(4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10,
        256 << 10);
    /** The maximum size of the data segment of an iSER message. */
    private static final int ISER_MESSAGE_BYTES = 8 << 10;
    private static final double GIGA = 1e9;
    private static final int PUSHES_A_ROUND = 64;

    private final BenchShard shard;
    private final int rounds;
    private final StringBuilder report = new StringBuilder();

    /**
     * Creates a tuner that uses a shard with the aggregator null.
     *
     * @param rounds the number of runs of each candidate
     */
    public Tuner(BenchShard shard, int rounds) {
        this.shard = shard;
        this.rounds = rounds;
    }

    /** The measurements so far, as text. */
    public String report() {
        return report.toString();
    }

    /** Finds the best transfer sizes for a datamover. */
    public TransferSizes tune(Route.Preference datamover) throws IOException {
        TransferSizes sizes = TransferSizes.DEFAULTS;
        Progress.show(datamover + ": request sizes");
        List<Candidates.Measured> requests = measure(datamover, REQUESTS, sizes::withRequestBytes);
        sizes = sizes.withRequestBytes(Candidates.best(requests, sizes.requestBytes()));
        line(datamover + ", throughput by request size", requests, bytes -> ByteSize.exact(bytes),
            sizes.requestBytes());
        Progress.show(datamover + ": queue depths");
        List<Candidates.Measured> depths = measure(datamover, DEPTHS, sizes::withQueueDepth);
        sizes = sizes.withQueueDepth(Candidates.best(depths, sizes.queueDepth()));
        line(datamover + ", throughput by requests in flight", depths, Integer::toString, sizes.queueDepth());
        if (Tuning.sendsEagerly(datamover.toString())) {
            Progress.show(datamover + ": eager pushes");
            sizes = sizes.withEagerBytes(eagerBytes(datamover));
        }
        return sizes;
    }

    @FunctionalInterface
    private interface Setting {
        TransferSizes with(int value);
    }

    /** The connection of one candidate to the shard. */
    private final class Connection implements AutoCloseable {
        private final StripedModel model;
        private final DataMemory memory;
        private final long bytes = shard.facts().bytesOfShard();

        Connection(Route.Preference datamover, TransferSizes sizes, int number) throws IOException {
            model = StripedModel.connect(new StripedModelContext(
                new ModelAddress(List.of(shard.portal()), shard.facts().model()))
                .learner("tune-" + ProcessHandle.current().pid() + "-" + number)
                .datamover(datamover).sizes(_ -> sizes));
            try {
                memory = model.allocate(bytes);
            } catch (IOException | RuntimeException e) {
                model.close();
                throw e;
            }
        }

        /** Pushes and pulls the whole model. Returns the throughput in bytes per second. */
        double exchange() throws IOException {
            long begun = System.nanoTime();
            model.push(0, memory, 0, bytes, Cancellation.NONE);
            model.pull(0, memory, 0, bytes, Cancellation.NONE);
            return 2e9 * bytes / (System.nanoTime() - begun);
        }

        /** Sends pushes one at a time. Returns the median latency of a push in nanoseconds. */
        double push(int pushBytes) throws IOException {
            long[] nanos = new long[PUSHES_A_ROUND];
            for (int i = 0; i < nanos.length; i++) {
                long offset = (long) i * pushBytes % bytes;
                long begun = System.nanoTime();
                model.push(offset, memory, offset, pushBytes, Cancellation.NONE);
                nanos[i] = System.nanoTime() - begun;
            }
            Arrays.sort(nanos);
            return nanos[nanos.length / 2];
        }

        @Override
        public void close() {
            model.close();
            memory.close();
        }
    }

    /** A group of connections. Closing the group closes all connections. */
    private final class Connections implements AutoCloseable {
        private final List<Connection> all = new ArrayList<>();

        Connection open(Route.Preference datamover, TransferSizes sizes) throws IOException {
            Connection connection = new Connection(datamover, sizes, all.size());
            all.add(connection);
            return connection;
        }

        @Override
        public void close() {
            all.forEach(Connection::close);
        }
    }

    private List<Candidates.Measured> measure(Route.Preference datamover, List<Integer> values, Setting setting)
        throws IOException {
        double[][] figures = new double[values.size()][rounds];
        try (Connections connections = new Connections()) {
            for (int value : values) {
                connections.open(datamover, setting.with(value)).exchange();
            }
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < values.size(); i++) {
                    // Each round starts one candidate later than the previous round.
                    int turn = (i + round) % values.size();
                    figures[turn][round] = connections.all.get(turn).exchange();
                }
            }
        }
        return IntStream.range(0, values.size())
            .mapToObj(i -> new Candidates.Measured(values.get(i), Samples.of(figures[i]))).toList();
    }

    private int eagerBytes(Route.Preference datamover) throws IOException {
        List<Candidates.Push> pushes = new ArrayList<>();
        try (Connections connections = new Connections()) {
            Connection eager = connections.open(datamover, TransferSizes.DEFAULTS);
            Connection rendezvous = connections.open(datamover, TransferSizes.DEFAULTS.withEagerBytes(0));
            for (int bytes : PUSHES) {
                if (datamover == Route.Preference.ISER && bytes > ISER_MESSAGE_BYTES) {
                    break;
                }
                double[] eagerly = new double[rounds];
                double[] fetched = new double[rounds];
                eager.push(bytes);
                rendezvous.push(bytes);
                for (int round = 0; round < rounds; round++) {
                    eagerly[round] = eager.push(bytes);
                    fetched[round] = rendezvous.push(bytes);
                }
                pushes.add(new Candidates.Push(bytes, Samples.of(eagerly), Samples.of(fetched)));
            }
        }
        int threshold = Candidates.threshold(pushes);
        report.append(PlainText.format(
            "%s, latency of a push in microseconds (data sent with the command / fetched by the target): ", datamover))
            .append(pushes.stream().map(push -> PlainText.format("%s: %.0f / %.0f", ByteSize.exact(push.bytes()),
                push.eager().median() / 1e3, push.rendezvous().median() / 1e3)).collect(Collectors.joining(", ")))
            .append(
                PlainText.format("%n  chosen: data is sent with the command up to %s%n", ByteSize.exact(threshold)));
        return threshold;
    }

    @FunctionalInterface
    private interface Label {
        String of(int value);
    }

    private void line(String what, List<Candidates.Measured> measured, Label label, int chosen) {
        report.append(PlainText.format("%s (push and pull, GB/s): ", what))
            .append(measured.stream().map(one -> label.of(one.value()) + ": "
                + PlainText.format("%.2f", one.figures().median() / GIGA)).collect(Collectors.joining(", ")))
            .append(PlainText.format("%n  chosen: %s%n", label.of(chosen)));
    }
}
