package io.modeldisk.protocol.datamover.iser;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.Unnumbered;
import io.modeldisk.protocol.engine.Serving;
import io.modeldisk.protocol.initiator.IscsiSession;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that closed connections release all resources: file descriptors, threads, and the device resources that
 * {@code rdma resource} of iproute2 shows. {@code -Diser.connects=N} sets the number of connections.
 */
@Tag("softroce")
class IserLeakTest extends IserFixture {
    private static final int CONNECTS = Integer.getInteger("iser.connects", 1000);
    private static final int BLOCKS = 16;
    private static final int BYTES = BLOCKS * Serving.BLOCK;
    private static final int MOST_AT_ONCE = 4;
    private static final Pattern COUNT = Pattern.compile("(qp|cq|pd|mr|cm_id|ctx) (\\d+)");

    /** Returns the current number of resources of each kind that connections use. */
    private static Map<String, Long> counts() {
        Map<String, Long> counts = new TreeMap<>();
        try {
            Process rdma = new ProcessBuilder("rdma", "resource", "show").start();
            String text = new String(rdma.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Matcher matcher = COUNT.matcher(text);
            while (matcher.find()) {
                counts.merge(matcher.group(1), Long.parseLong(matcher.group(2)), Long::sum);
            }
            counts.put("descriptors", entries("/proc/self/fd"));
            // The threads of ForkJoinPools are not counted, because the JVM starts and stops them at any time.
            counts.put("threads", Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getName().startsWith("ForkJoinPool")).count());
            return counts;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long entries(String directory) throws IOException {
        try (Stream<Path> entries = Files.list(Path.of(directory))) {
            return entries.count();
        }
    }

    private static boolean isNoneMore(Map<String, Long> after, Map<String, Long> before) {
        return after.entrySet().stream().allMatch(entry -> entry.getValue() <= before.getOrDefault(entry.getKey(), 0L));
    }

    /** Opens one connection, uses the connection, and closes it in one of four ways. */
    private void connectAndEnd(int number) throws Exception {
        switch (number % 4) {
            case 0 -> {
                try (InitiatorDatamover _ = iser().connect(new Unnumbered(), 1, 20_000, NanoClock.SYSTEM)) {
                    // This connection never logs in.
                }
            }
            case 1 -> login(iser()).close();
            default -> {
                AtomicReference<InitiatorDatamover> last = new AtomicReference<>();
                IscsiSession session = login(remembering(iser(), last));
                // The connection is closed while RDMA READs or WRITEs are in flight.
                for (int i = 0; i < 2; i++) {
                    session.submit(number % 4 == 2
                        ? session.acquire(PATIENCE_NS).write(0, 0, BLOCKS, memory, i * BYTES, BYTES)
                            .onCompletion(_ -> {})
                        : session.acquire(PATIENCE_NS).read(0, 0, BLOCKS, memory, i * BYTES, BYTES)
                            .onCompletion(_ -> {}));
                }
                last.get().close();
                session.close();
            }
        }
    }

    @Test
    void closedConnectionKeepsNoDeviceResourceNoDescriptorAndNoThread() throws Exception {
        try (IscsiSession bystander = login(iser())) {
            for (int i = 0; i < 8; i++) {
                connectAndEnd(i);
            }
            await("the first connections close", () -> serving.server.connectionCount() == 1);
            Map<String, Long> before = counts();
            assertThat(before).containsKeys("qp", "mr");
            for (int i = 0; i < CONNECTS; i++) {
                connectAndEnd(i);
                await("most connections close", () -> serving.server.connectionCount() <= MOST_AT_ONCE);
            }
            await("all connections but one close", () -> serving.server.connectionCount() == 1);
            await(() -> "all resources are released; counts before: " + before + ", counts now: " + counts(),
                Duration.ofNanos(PATIENCE_NS), () -> isNoneMore(counts(), before));
            assertThat(read(bystander, 0, BLOCKS, 0)).isEqualTo("GOOD");
        }
    }
}
