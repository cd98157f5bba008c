package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.protocol.datamover.shm.MappingLimits;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that the aggregator of a shard reads gradients directly from the memory that the learner has mapped, without a copy. */
@Tag("mount")
@Timeout(180)
final class MappedIT {
    private static final int SIZE = 3 << 20;

    /**
     * A learner. First it fills the gradient buffer of each set of buffers with one number: MARK plus the number of the set.
     * After the file {@code go} exists, it trains: the gradient in iteration n is 0.5 * (n + 1), and the last gradient is zero.
     * Then it prints a weight, and exits when the file is deleted.
     */
    private static final String LEARNER = """
        import os, sys, time
        import numpy as np
        folder, sets, iterations, go = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
        control = os.open(folder + '/control', os.O_RDWR)
        weights = [np.memmap(f'{folder}/weights.{n}', np.float32, 'r') for n in range(sets)]
        gradient = [np.memmap(f'{folder}/gradient.{n}', np.float32, 'r+') for n in range(sets)]
        for n in range(sets):
            gradient[n][:] = MARK + n
        print('mapped', flush=True)
        while not os.path.exists(go):
            time.sleep(0.05)
        for n in range(iterations + 1):
            gradient[n % sets][:] = 0.5 * (n + 1) if n < iterations else 0
            os.fsync(control)
        print('trained', weights[(iterations + 1) % sets][0], flush=True)
        while os.path.exists(go):
            time.sleep(0.05)
        """;

    private static final int ITERATIONS = 4;
    /** The value in the gradient buffer of set 0 before the training; MARK in the learner. */
    private static final float MARK = 12345;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    /** An aggregator that adds gradients to the weights, and counts the bytes that it reads at each address. */
    private static final class Counting implements Aggregator {
        private final Map<Long, LongAdder> bytesAt = new ConcurrentHashMap<>();

        @Override
        public void aggregate(
            BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale) {
            bytesAt.computeIfAbsent(gradient.address() + gradientOffset, at -> new LongAdder()).add(lengthBytes);
            for (long at = 0; at < lengthBytes; at += Float.BYTES) {
                float old = block.weights().get(ValueLayout.JAVA_FLOAT, offset + at);
                block.weights().set(ValueLayout.JAVA_FLOAT, offset + at,
                    old + scale * gradient.get(ValueLayout.JAVA_FLOAT, gradientOffset + at));
            }
        }

        long bytes() {
            return bytesAt.values().stream().mapToLong(LongAdder::sum).sum();
        }

        /**
         * Returns the numbers of bytes that the aggregator has read from each memfd. The key is the inode of the memfd; 0 stands
         * for other memory.
         */
        Map<Long, Long> bytesByInode() throws Exception {
            Map<Long, Long> found = new HashMap<>();
            List<Range> ranges = Range.ofMemfds(ProcessHandle.current().pid());
            bytesAt.forEach((address, bytes) -> found.merge(ranges.stream().filter(range -> range.contains(address))
                .map(Range::inode).findFirst().orElse(0L), bytes.sum(), Long::sum));
            return found;
        }
    }

    /** An address range at which a process has mapped a memfd of modeldisk. */
    private record Range(long from, long end, long inode) {
        private static final Pattern LINE = Pattern
            .compile("([0-9a-f]+)-([0-9a-f]+) \\S+ \\S+ \\S+ (\\d+) +/memfd:modeldisk.*");

        boolean contains(long address) {
            return address >= from && address < end;
        }

        static List<Range> ofMemfds(long pid) throws Exception {
            List<Range> ranges = new ArrayList<>();
            for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "maps"))) {
                Matcher match = LINE.matcher(line);
                if (match.matches()) {
                    ranges.add(new Range(Long.parseUnsignedLong(match.group(1), 16),
                        Long.parseUnsignedLong(match.group(2), 16),
                        Long.parseLong(match.group(3))));
                }
            }
            return ranges;
        }
    }

    /** Returns the inodes of those memfds of a process that begin with this float32. */
    private static List<Long> memfdsWith(float number, long pid) throws Exception {
        List<Long> inodes = new ArrayList<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            for (Path descriptor : descriptors.toList()) {
                if (Files.readSymbolicLink(descriptor).toString().startsWith("/memfd:modeldisk")) {
                    try (InputStream content = Files.newInputStream(descriptor)) {
                        if (ByteBuffer.wrap(content.readNBytes(Float.BYTES)).order(ByteOrder.nativeOrder())
                            .getFloat() == number) {
                            inodes.add((Long) Files.getAttribute(descriptor, "unix:ino"));
                        }
                    }
                }
            }
        }
        return inodes;
    }

    @ParameterizedTest
    @CsvSource({"sync, 1", "overlap, 2"})
    void aggregatorReadsGradientsFromTheMemoryThatTheLearnerMapped(String exchange, int sets) throws Exception {
        Programs.requireLearners();
        Counting aggregator = new Counting();
        Path sockets = sandbox.directory("run");
        Shards shards = Shards.launch(sandbox, "m", 1, SIZE, context -> context.aggregator("counting", aggregator)
            .network(network -> network
                .datamovers(List.of(new TcpPortal.Opener(), new ShmPortal.Opener(sockets, new MappingLimits())))));
        Path directory = sandbox.directory("learner");
        Running mount = Command.mount(sandbox, shards, directory, "--exchange", exchange, "--shm-directory", sockets);
        assertThat(mount.awaitLine("ready: ")).contains("datamover shm");
        Path go = sandbox.path("go");
        Running learner = sandbox.start("learner", "python3", "-c", LEARNER.replace("MARK", Float.toString(MARK)),
            directory.resolve("mapped"), sets, ITERATIONS, go);
        learner.awaitLine("mapped");
        long pid = mount.process().descendants().findFirst().orElse(mount.process().toHandle()).pid();
        Set<Long> gradients = new HashSet<>();
        for (int set = 0; set < sets; set++) {
            List<Long> found = memfdsWith(MARK + set, pid);
            assertThat(found).as("memory with the gradient of set %d", set).hasSize(1);
            gradients.addAll(found);
        }
        Files.createFile(go);
        assertThat(learner.awaitLine("trained")).isEqualTo("trained 5.0");
        await("all gradients have been read once", () -> aggregator.bytes() == (ITERATIONS + 1L) * SIZE);
        assertThat(aggregator.bytesByInode()).as("memory from which gradients were read").containsOnlyKeys(gradients);
        assertThat(sandbox.run(modeldisk("status", directory)).succeeded())
            .containsPattern("\\d+ iterations; the last one: fsync \\d+\\.\\d ms, stall \\d+\\.\\d ms.*\n")
            .containsPattern("mapped buffers: (passthrough|link \\(.*\\))\n");
        Files.delete(go);
        learner.awaitEnd();
    }

    @Test
    void trainingBenchMeasuresMappedBuffersBesideReadAndWrite() throws Exception {
        Programs.requireMounting();
        Path json = sandbox.path("through.json");
        sandbox.run(
            modeldisk("bench", "training", "--model", "8MiB:5ms", "--learners", "2", "--shards", "1", "--exchange",
                "sync,overlap", "--through", "mount,mapped", "--datamover", "shm", "--iterations", "5", "--rounds", "1",
                "--consistency", "bsp", "--out", json))
            .succeeded();
        JsonNode results = new ObjectMapper().readTree(Files.readString(json)).path("results");
        assertThat(results.findValuesAsText("exchange")).containsExactly("sync", "sync", "overlap:adaptive",
            "overlap:adaptive");
        assertThat(results.findValuesAsText("through")).containsExactly("mount", "mapped", "mount", "mapped");
        for (int i = 0; i < results.size(); i += 2) {
            assertThat(results.path(i + 1).path("read and write").path("median").asDouble())
                .isLessThan(results.path(i).path("read and write").path("median").asDouble());
        }
        assertThat(sandbox.run(modeldisk("bench", "training", "--exchange", "direct", "--through", "mapped")).output())
            .contains("direct has no buffers to map");
    }
}
