package io.modeldisk.protocol.initiator;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.WrappedPortal;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import io.modeldisk.protocol.engine.MemoryTarget;
import io.modeldisk.protocol.engine.Serving;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that a failure to send closes the session. Every command then fails with the reason of the first failure. Commands that
 * are submitted before the session is closed fail with this reason too.
 */
@Timeout(60)
class SendFailureTest {
    private static final String REASON = "the device has no space for the memory";
    private static final long SECOND = 1_000_000_000;

    private final BlockingQueue<String> ends = new ArrayBlockingQueue<>(2);
    private final CountDownLatch submitted = new CountDownLatch(1);

    @Test
    void commandsFailWithTheReasonOfTheFirstSendFailure() throws Exception {
        try (Serving serving = new Serving(); DataMemory memory = DataMemory.allocate(Serving.BLOCK)) {
            SessionContext context = new SessionContext().portal(serving.server.localAddress())
                .over(new WrappedPortal(new TcpInitiatorPortal(serving.server.localAddress()),
                    (connection, _) -> refusing(connection)))
                .targetName(MemoryTarget.NAME).initiator("iqn.test:initiator", 1);
            try (IscsiSession session = IscsiSession.login(context)) {
                for (int i = 0; i < 2; i++) {
                    session.submit(session.acquire(SECOND).read(0, 0, 1, memory, 0, Serving.BLOCK)
                        .onCompletion(done -> ends.add(done.describeEnd())));
                }
                submitted.countDown();
                assertThat(ends.poll(10, TimeUnit.SECONDS)).contains(REASON);
                assertThat(ends.poll(10, TimeUnit.SECONDS)).contains(REASON);
            }
        }
    }

    /**
     * Returns a connection that cannot send commands. The receiving thread notices that the connection is closed only after the
     * test has tried to send two commands.
     */
    private InitiatorDatamover refusing(InitiatorDatamover datamover) {
        int[] tried = {0};
        InvocationHandler handler = (_, method, arguments) -> {
            if (method.getName().equals("sendCommand")) {
                throw tried[0]++ == 0 ? new IOException(REASON) : new ClosedChannelException();
            }
            try {
                return method.invoke(datamover, arguments);
            } catch (InvocationTargetException e) {
                if (tried[0] > 0 && method.getName().equals("receive")) {
                    submitted.await();
                    throw new ClosedChannelException();
                }
                throw e.getCause();
            }
        };
        return (InitiatorDatamover) Proxy.newProxyInstance(getClass().getClassLoader(),
            new Class<?>[]{InitiatorDatamover.class}, handler);
    }
}
