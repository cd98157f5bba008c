package io.modeldisk.admin;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class ShardSubjectTest {
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final AtomicInteger stuck = new AtomicInteger();
    private volatile boolean hangs;
    private final ShardSubject subject = new ShardSubject();
    private ParameterServer server;

    private void open() throws IOException {
        server = ParameterServer
            .launch(new ServerContext().consistency("asp").model("m").sizeBytes(1 << 20)
                .aggregator("sum", Aggregators.parse("sum"))
                .listen(new InetSocketAddress("127.0.0.1", 0))
                .mayServe(this::mayServe));
        subject.opened(server);
    }

    /** Hangs like a thread that waits for the lock of a block. Each query of the status calls this method. */
    private boolean mayServe() {
        if (hangs && Thread.currentThread().getName().startsWith(ThreadName.QUESTION.of())) {
            stuck.incrementAndGet();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return true;
    }

    @AfterEach
    void close() {
        goOn.countDown();
        if (server != null) {
            server.close();
        }
    }

    @Test
    void servingShardIsHealthyAndHasAStatus() throws IOException {
        assertThat(subject.obstacle()).isEqualTo("the shard starts");
        assertThat(subject.status()).isEmpty();
        open();
        assertThat(subject.obstacle()).isNull();
        assertThat(subject.status().at("/shards/0/serving").asBoolean()).isTrue();
    }

    @Test
    void stuckStatusQueryMakesTheShardUnhealthyButDoesNotDelayItsClose() throws Exception {
        open();
        hangs = true;
        Thread reader = Thread.ofPlatform().daemon().start(subject::status);
        await("a query of the status is stuck", () -> stuck.get() > 0);

        assertThat(subject.obstacle()).startsWith("the shard did not answer").endsWith("within 3 s");
        assertThat(subject.status().at("/shards/error").asText()).startsWith("the shard did not answer");
        subject.closes("the shard stops");
        assertThat(subject.obstacle()).isEqualTo("the shard stops");
        assertThat(subject.status().at("/shards/0/serving").asBoolean(true)).isFalse();
        goOn.countDown();
        reader.join();
    }

    @Test
    void stuckQueryToAClosedServerDoesNotMakeItsSuccessorUnhealthy() throws IOException {
        open();
        hangs = true;
        assertThat(subject.obstacle()).isNotNull();
        subject.closes("the shard goes back to a checkpoint");
        hangs = false;
        ParameterServer first = server;
        open();
        assertThat(subject.obstacle()).isNull();
        goOn.countDown();
        first.close();
    }
}
