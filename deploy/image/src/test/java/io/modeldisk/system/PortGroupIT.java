package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.ModelAddress;
import io.modeldisk.protocol.striping.StripedModel;
import io.modeldisk.protocol.striping.StripedModelContext;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests two processes with {@code --port-group}, of which one serves a shard and one waits. */
@Timeout(120)
final class PortGroupIT {
    private static final int SIZE_BYTES = 1 << 20;
    private static final Pattern STANDBY = Pattern
        .compile("standby: shard 0/1 of model m waits on 127\\.0\\.0\\.1:(\\d+).*");
    private static final Pattern COORDINATOR = Pattern.compile("ready: .*?(127\\.0\\.0\\.1:\\d+).*");

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private static String group(Pattern pattern, String line) {
        Matcher matcher = pattern.matcher(line);
        assertThat(matcher.matches()).as("the line '%s' matches %s", line, pattern).isTrue();
        return matcher.group(1);
    }

    private Running serve(String coordinator, int group) throws Exception {
        return Command.serve(sandbox, "--model", "m", "--size", SIZE_BYTES, "--aggregator", "sum", "--coordinator",
            coordinator, "--coordinator-session", "1s", "--replace-after", "1s", "--port-group", group + "/2");
    }

    @Test
    void pushToAWaitingProcessSucceedsAfterThisProcessHasTakenOver() throws Exception {
        Running zookeeper = Command.coordinator(sandbox, "127.0.0.1:0");
        String coordinator = group(COORDINATOR, zookeeper.awaitLine("ready: "));
        Running first = serve(coordinator, 1);
        Command.port(first);
        Running second = serve(coordinator, 2);
        String waiting = group(STANDBY, second.awaitLine("standby: "));

        try (DataMemory memory = DataMemory.allocate(SIZE_BYTES);
            ExecutorService executor = Executors.newSingleThreadExecutor();
            StripedModel model = StripedModel.connect(
                new StripedModelContext(ModelAddress.parse("modeldisk://127.0.0.1:" + waiting + "/m"))
                    .reconnectTimeout(Duration.ofSeconds(60)))) {
            memory.slab(0).set(ValueLayout.JAVA_FLOAT, 0, 7);
            Future<?> push = executor.submit(() -> {
                model.join();
                model.push(0, memory, 0, SIZE_BYTES, Cancellation.NONE);
                return null;
            });
            first.signal("KILL");
            assertThat(Command.port(second)).isEqualTo(Integer.parseInt(waiting));
            push.get(60, TimeUnit.SECONDS);
            memory.slab(0).set(ValueLayout.JAVA_FLOAT, 0, 0);
            model.pull(0, memory, 0, SIZE_BYTES, Cancellation.NONE);
            assertThat(memory.slab(0).get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(7);
        }
    }
}
