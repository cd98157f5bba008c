package io.modeldisk.mount;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.Partition;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Measures with fio the throughput of a mount over a model whose calls return immediately. This class is a program, not a test.
 * The first argument is the exchange scheme. The optional second argument is a file of 512 MiB to measure instead of a mount.
 */
public final class MountBenchmark {
    private static final long SIZE = 512L << 20;

    private MountBenchmark() {}

    /** Mounts the model, runs fio and prints one line for each job. */
    public static void main(String[] args) throws Exception {
        if (args.length > 1) {
            measure(Path.of(args[1]));
            return;
        }
        Path directory = Files.createTempDirectory("modeldisk-benchmark");
        try (ModelMount mount = ModelMount.launch(new MountContext().directory(directory)
            .remoteModel(new NullModel()).exchange(ExchangeScheme.named(args[0])))) {
            measure(mount.directory().resolve("model"));
        } finally {
            Files.delete(directory);
        }
    }

    private static void measure(Path file) throws Exception {
        fio(file, "psync", 1, "256k", "write", 3);
        for (String engine : new String[]{"psync", "libaio"}) {
            for (String blockSize : new String[]{"256k", "1m"}) {
                for (String way : new String[]{"write", "read"}) {
                    fio(file, engine, engine.equals("psync") ? 1 : 8, blockSize, way, 4);
                }
            }
        }
    }

    private static void fio(Path file, String engine, int depth, String blockSize, String way, int seconds)
        throws Exception {
        Process fio = new ProcessBuilder("fio", "--name=b", "--filename=" + file, "--size=512m", "--direct=1",
            "--ioengine=" + engine, "--iodepth=" + depth, "--bs=" + blockSize, "--rw=" + way, "--time_based",
            "--runtime=" + seconds, "--allow_file_create=0", "--output-format=json").directory(Path.of("/").toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        JsonNode result = new ObjectMapper().readTree(fio.getInputStream());
        System.out.printf("%-6s %4s %-5s %6.2f GiB/s%n", engine, blockSize, way,
            result.at("/jobs/0/" + way + "/bw_bytes").asDouble() / (1 << 30));
    }

    /** A model whose calls return immediately and move no data. */
    private static final class NullModel implements RemoteModel {
        @Override
        public ModelFacts facts() {
            return new ModelFacts("null", SIZE, 1 << 18, 0, 1, "null", "asp", 1, "zeros");
        }

        @Override
        public void pull(long offset, DataMemory memory, long memoryOffset, long lengthBytes,
            Cancellation cancellation) {
            // Moves no data.
        }

        @Override
        public void push(long offset, DataMemory memory, long memoryOffset, long lengthBytes,
            Cancellation cancellation) {
            // Moves no data.
        }

        @Override
        public void read(long offset, DataMemory memory, long memoryOffset, long lengthBytes,
            Cancellation cancellation) {
            // Moves no data.
        }

        @Override
        public void write(long offset, DataMemory memory, long memoryOffset, long lengthBytes,
            Cancellation cancellation) {
            // Moves no data.
        }

        @Override
        public void synchronize(Cancellation cancellation) {
            // Nothing to wait for: no data is moved.
        }

        @Override
        public void join() {
            // Nothing to do: the model has no rounds.
        }

        @Override
        public void leave() {
            // Nothing to do: the model has no rounds.
        }

        @Override
        public long nextRound() {
            return 1;
        }

        @Override
        public Partition partition(long round, Cancellation cancellation) {
            return new Partition(round, 0, 1, 1);
        }

        @Override
        public JsonNode status() throws IOException {
            return JsonNodeFactory.instance.arrayNode();
        }

        @Override
        public ShardCounters counters() {
            return new ShardCounters(0, 0, 0, 1, true, false);
        }

        @Override
        public void close() {
            // Nothing to free: the model has no memory.
        }
    }
}
