package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.test.ErrorLog;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a server with connections that it cannot serve or close. */
@Timeout(60)
class TargetServerTest {
    private final ManualClock clock = new ManualClock();
    private final AtomicInteger accepts = new AtomicInteger();
    private final AtomicInteger threads = new AtomicInteger();

    /** A TCP portal that counts the calls of {@link #accept}. */
    private final class CountingPortal implements TargetPortal {
        private final TargetPortal tcp;

        CountingPortal(InetSocketAddress address, String targetName) throws IOException {
            tcp = new TcpPortal.Opener().open(address, targetName);
        }

        @Override
        public String datamover() {
            return tcp.datamover();
        }

        @Override
        public InetSocketAddress localAddress() {
            return tcp.localAddress();
        }

        @Override
        public IncomingConnection accept() throws IOException {
            accepts.incrementAndGet();
            return tcp.accept();
        }

        @Override
        public void close() {
            tcp.close();
        }
    }

    private Serving serve(int maxLogins, ThreadFactory factory) throws IOException {
        return new Serving(context -> {
            context.clock(clock).datamovers(List.of(CountingPortal::new));
            context.maxLogins = maxLogins;
            context.threadFactory = factory;
        });
    }

    @Test
    void waitingConnectionIsServedAfterAnotherConnectionCouldNotBeServed() throws IOException {
        ThreadFactory failsOnce = task -> {
            if (threads.incrementAndGet() == 2) {
                throw new IllegalStateException("the test simulates that no thread can be created");
            }
            return Thread.ofVirtual().unstarted(task);
        };
        try (Serving serving = serve(1, failsOnce);
            RawInitiator served = new RawInitiator(serving.server.localAddress());
            RawInitiator first = new RawInitiator(serving.server.localAddress());
            RawInitiator newest = new RawInitiator(serving.server.localAddress())) {
            await("two connections wait for the end of the first connection", () -> accepts.get() == 4);
            await("the watchdog waits for its next run", () -> clock.waitingThreads() > 0);
            clock.advance(PendingLogins.REQUEST_GRACE);
            assertThat(newest.isClosedByTarget()).isTrue();
            assertThat(first.login(1, 3, "InitiatorName=iqn.test:first", "TargetName=" + MemoryTarget.NAME)
                .loginStatus()).isZero();
            assertThat(served.isClosedByTarget()).isTrue();
        }
    }

    @Test
    void closeOfTheServerReportsEveryConnectionThatStaysOpen() throws Exception {
        AtomicBoolean released = new AtomicBoolean();
        Serving serving = serve(2, task -> Thread.ofVirtual().unstarted(() -> {
            await("the test lets the thread run", released::get);
            task.run();
        }));
        ErrorLog errors = new ErrorLog();
        try (RawInitiator one = new RawInitiator(serving.server.localAddress(), "127.0.0.1");
            RawInitiator other = new RawInitiator(serving.server.localAddress(), "127.0.0.2")) {
            await("both connections are served", () -> serving.server.connectionCount() == 2);
            CompletableFuture<Void> closing = CompletableFuture.runAsync(serving.server::close);
            await("close() returns", () -> {
                clock.advance(Duration.ofMillis(100));
                return closing.isDone();
            });
            assertThatThrownBy(errors::check)
                .hasMessageContaining("did not close within 10 s")
                .hasMessageContaining(":" + one.socket.getLocalPort())
                .hasMessageContaining(":" + other.socket.getLocalPort());
        } finally {
            released.set(true);
            await("all connections are closed", () -> serving.server.connectionCount() == 0);
            serving.target.close();
        }
    }
}
