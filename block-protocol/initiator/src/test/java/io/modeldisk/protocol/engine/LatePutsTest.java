package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a device that reports the completion of a put (data sent to the initiator) late, after the initiator has sent the next
 * command. The target must find a slot for the next command.
 */
@Timeout(60)
class LatePutsTest {
    private static final int COMMANDS = 300;
    private static final int MIXED_COMMANDS = 20_000;
    private static final int DEPTH = 16;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    @Test
    void targetAcceptsTheNextCommandBeforeThePutOfThePreviousCommandCompletes() throws IOException {
        try (Serving serving = new Serving(context -> context.datamovers(List.of(LatePutsTest::open)));
            RawInitiator raw = serving.login()) {
            serving.fill(1);
            for (int i = 0; i < COMMANDS; i++) {
                int block = i % 16;
                RawInitiator.End end = raw.run(RawInitiator.READ, RawInitiator.read(block, 1), Serving.BLOCK,
                    RawInitiator.EMPTY);
                assertThat(end.data()).isEqualTo(serving.contents((long) block * Serving.BLOCK, Serving.BLOCK));
            }
        }
    }

    /**
     * The target frees the slot of a read before the device reports that the put of the read is complete. When the report
     * arrives, it must not affect the next command in the slot.
     */
    @Test
    void concurrentReadsAndWritesNeverShareASlot() throws Exception {
        int longest = 64 * Serving.BLOCK;
        AtomicInteger ended = new AtomicInteger();
        Queue<String> failures = new ConcurrentLinkedQueue<>();
        try (Serving serving = new Serving(context -> context.datamovers(List.of(LatePutsTest::open)));
            DataMemory memory = DataMemory.allocate((long) DEPTH * longest);
            IscsiSession session = IscsiSession.login(new SessionContext().portal(serving.server.localAddress())
                .targetName(MemoryTarget.NAME).initiator("iqn.test:late", 1).queueDepth(DEPTH))) {
            MemorySegment medium = MemorySegment.ofArray(serving.fill(2));
            UnitReadiness.await(session, 0);
            Random random = new Random(3);
            for (int i = 0; i < MIXED_COMMANDS; i++) {
                int blocks = i % 3 == 0 ? 64 : 1 + random.nextInt(3);
                int block = random.nextInt((int) (medium.byteSize() / Serving.BLOCK) - blocks);
                int bytes = blocks * Serving.BLOCK;
                MemorySegment expected = medium.asSlice((long) block * Serving.BLOCK, bytes);
                IoRequest request = session.acquire(PATIENCE_NS);
                long at = (long) request.slot() * longest;
                MemorySegment moved = memory.segment(at, bytes);
                if (i % 4 == 0) {
                    // The write stores the same bytes again, so a concurrent read sees no difference.
                    moved.copyFrom(expected);
                    request.write(0, block, blocks, memory, at, bytes);
                } else {
                    moved.fill((byte) 0);
                    request.read(0, block, blocks, memory, at, bytes);
                }
                session.submit(request.onCompletion(done -> {
                    if (!done.isGood()) {
                        failures.add(done.describeEnd());
                    } else if (moved.mismatch(expected) >= 0) {
                        failures.add("the read returned wrong data from byte " + moved.mismatch(expected));
                    }
                    ended.incrementAndGet();
                }));
            }
            await("every command completes", () -> ended.get() == MIXED_COMMANDS);
            assertThat(failures).isEmpty();
        }
    }

    private static TargetPortal open(InetSocketAddress address, String targetName) throws IOException {
        TargetPortal tcp = new TcpPortal.Opener().open(address, targetName);
        return proxy(TargetPortal.class, tcp, (method, result) -> method.equals("accept")
            ? proxy(IncomingConnection.class, result, (name, opened) -> name.equals("open")
                ? proxy(TargetDatamover.class, opened, LatePutsTest::late)
                : opened)
            : result);
    }

    /** Returns false for every put, which means that the put is not complete yet. */
    private static Object late(String method, Object result) {
        return method.equals("putData") ? Boolean.FALSE : result;
    }

    @FunctionalInterface
    private interface Twist {
        Object twist(String method, Object result);
    }

    private static <T> T proxy(Class<T> type, Object real, Twist twist) {
        InvocationHandler handler = (_, method, arguments) -> {
            try {
                return twist.twist(method.getName(), method.invoke(real, arguments));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        return type.cast(Proxy.newProxyInstance(LatePutsTest.class.getClassLoader(), new Class<?>[]{type}, handler));
    }
}
