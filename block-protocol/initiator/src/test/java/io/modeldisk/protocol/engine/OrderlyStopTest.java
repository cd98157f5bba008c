package io.modeldisk.protocol.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.datamover.shm.MappingLimits;
import io.modeldisk.protocol.datamover.shm.ShmInitiatorPortal;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests a server that shuts down while an initiator writes. The status of each write must show whether the target has executed
 * the write, so an initiator never loses or repeats a write.
 */
@Timeout(180)
class OrderlyStopTest {
    private static final int STOPS = 20;
    private static final int DEPTH = 16;
    private static final int PLACES = 2 * DEPTH;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    @TempDir
    private Path folder;

    /**
     * For each place on the medium: the number of the last write that has ended, and the number of the last write that the target
     * has executed.
     */
    private final int[] ended = new int[PLACES];
    private final int[] executed = new int[PLACES];
    private final Queue<String> doubts = new ConcurrentLinkedQueue<>();

    @ParameterizedTest
    @CsvSource({"1, false", "64, false", "64, true"})
    void shutdownExecutesOrRefusesEveryWrite(int blocks, boolean shm) throws Exception {
        for (int stop = 0; stop < STOPS; stop++) {
            Arrays.fill(executed, 0);
            stopDuringWrites(blocks, shm);
        }
    }

    private void stopDuringWrites(int blocks, boolean shm) throws Exception {
        int bytes = blocks * Serving.BLOCK;
        try (Serving serving = new Serving(context -> {
            if (shm) {
                context.datamovers(List.of(new TcpPortal.Opener(), new ShmPortal.Opener(folder, new MappingLimits())));
            }
        });
            DataMemory memory = DataMemory.allocateShareable((long) DEPTH * bytes)) {
            InetSocketAddress address = serving.server.localAddress();
            SessionContext context = new SessionContext().portal(address)
                .targetName(MemoryTarget.NAME).initiator("iqn.test:stop", 1).queueDepth(DEPTH);
            IscsiSession session = IscsiSession.login(shm
                ? context.over(new ShmInitiatorPortal(SocketPath.of(folder, MemoryTarget.NAME, address.getPort())))
                : context);
            UnitReadiness.await(session, 0);
            CountDownLatch begun = new CountDownLatch(100);
            Thread writer = Thread.ofPlatform().start(() -> write(session, memory, blocks, begun));
            assertThat(begun.await(PATIENCE_NS, TimeUnit.NANOSECONDS)).isTrue();
            serving.server.close();
            writer.join();
            assertThat(doubts).isEmpty();
            for (int place = 0; place < PLACES; place++) {
                assertThat(contents(serving, place, bytes)).as("place %d, last write %d", place, ended[place])
                    .isEqualTo(executed[place]);
            }
            session.disconnect();
        }
    }

    private static int contents(Serving serving, int place, int bytes) {
        DataMemory medium = serving.target.unit.memory();
        int first = medium.segment((long) place * bytes, bytes).get(ValueLayout.JAVA_INT, 0);
        int last = medium.segment((long) place * bytes, bytes).get(ValueLayout.JAVA_INT, bytes - Integer.BYTES);
        assertThat(last).as("last value of place %d, which must equal the first", place).isEqualTo(first);
        return first;
    }

    /** Writes increasing numbers to the places in turn until the session ends. Each place has at most one write in flight. */
    private void write(IscsiSession session, DataMemory memory, int blocks, CountDownLatch begun) {
        int bytes = blocks * Serving.BLOCK;
        Semaphore[] turns = new Semaphore[PLACES];
        for (int place = 0; place < PLACES; place++) {
            turns[place] = new Semaphore(1);
        }
        try {
            for (int number = 1; submit(session, memory, number, blocks, turns[number % PLACES]); number++) {
                begun.countDown();
            }
            for (Semaphore turn : turns) {
                assertThat(turn.tryAcquire(PATIENCE_NS, TimeUnit.NANOSECONDS)).as("every write has ended").isTrue();
            }
        } catch (InterruptedException | IOException | AssertionError e) {
            doubts.add(e.toString());
        }
    }

    /** Waits until no write to the number's place is in flight, and writes the number. Returns false if the session has ended. */
    private boolean submit(IscsiSession session, DataMemory memory, int number, int blocks, Semaphore turn)
        throws IOException, InterruptedException {
        int place = number % PLACES;
        int bytes = blocks * Serving.BLOCK;
        turn.acquire();
        try {
            IoRequest request = session.acquire(PATIENCE_NS);
            long at = (long) request.slot() * bytes;
            memory.segment(at, bytes).asByteBuffer().order(ByteOrder.nativeOrder()).asIntBuffer().put(0, number)
                .put(bytes / Integer.BYTES - 1, number);
            session.submit(request.write(0, (long) place * blocks, blocks, memory, at, bytes).onCompletion(done -> {
                record(done, place, number);
                turn.release();
            }));
            return true;
        } catch (ShardException e) {
            turn.release();
            return false;
        }
    }

    private void record(IoRequest done, int place, int number) {
        ended[place] = number;
        if (done.isGood()) {
            executed[place] = number;
        } else if (done.status() != ScsiStatus.BUSY) {
            doubts.add(done.describeEnd());
        }
    }
}
