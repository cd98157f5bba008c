package io.modeldisk.protocol.initiator;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a session with a target that violates the protocol or stalls. */
@Timeout(60)
class IscsiSessionTest {
    private static final String[] ANSWERS = {
        "InitialR2T=No", "ImmediateData=Yes", "FirstBurstLength=262144", "MaxBurstLength=4194304",
        "MaxRecvDataSegmentLength=1048576"
    };
    private static final long SECOND = 1_000_000_000;

    private final DataMemory memory = DataMemory.allocate(1 << 20);
    private final BlockingQueue<String> ends = new ArrayBlockingQueue<>(1000);
    private final ManualClock clock = new ManualClock();
    private ScriptedTarget target;
    private IscsiSession session;

    @BeforeEach
    void login() throws Exception {
        target = new ScriptedTarget();
        session = target.logIn(new SessionContext().targetName("iqn.test:scripted").initiator("iqn.test:initiator", 1)
            .queueDepth(64).clock(clock), ANSWERS).get(10, TimeUnit.SECONDS);
    }

    @AfterEach
    void end() throws IOException {
        target.close();
        session.close();
        memory.close();
    }

    private IoRequest read() throws IOException {
        return session.acquire(SECOND).read(0, 0, 1, memory, 0, 4096)
            .onCompletion(done -> ends.add(done.describeEnd()));
    }

    private String nextEnd() throws InterruptedException {
        return ends.poll(10, TimeUnit.SECONDS);
    }

    private static FutureTask<Void> start(Callable<Void> call) {
        FutureTask<Void> started = new FutureTask<>(call);
        Thread.ofVirtual().start(started);
        return started;
    }

    /** Aborts a command on another thread. */
    private FutureTask<Void> abort(IoRequest request) {
        int tag = request.initiatorTaskTag();
        return start(() -> {
            session.abort(request, tag);
            return null;
        });
    }

    @Test
    void commandCompletesWithTheStatusOfItsResponse() throws Exception {
        session.submit(read());
        target.respond(target.receive().getInt(16), 0x28);
        assertThat(nextEnd()).isEqualTo("TASK SET FULL");
    }

    @Test
    void dataAfterTheResponseToAnAbortIsDropped() throws Exception {
        IoRequest request = read();
        session.submit(request);
        int tag = target.receive().getInt(16);
        FutureTask<Void> abort = abort(request);
        ByteBuffer function = target.receive();
        byte[] ones = new byte[4096];
        Arrays.fill(ones, (byte) 1);
        target.send(ScriptedTarget.pdu(Opcode.TASK_MANAGEMENT_RESPONSE, 0x80).putInt(16, function.getInt(16)));
        target.send(ScriptedTarget.pdu(Opcode.DATA_IN, 0x81).putInt(16, tag).putInt(20, -1), ones);
        abort.get(10, TimeUnit.SECONDS);
        assertThat(nextEnd()).endsWith(": this initiator aborted the command");
        session.submit(read());
        target.respond(target.receive().getInt(16), 0);
        assertThat(nextEnd()).isEqualTo("GOOD");
        assertThat(memory.segment(0, 4096).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void commandThatCompletesBeforeItsAbortKeepsItsStatus() throws Exception {
        IoRequest request = read();
        session.submit(request);
        int tag = target.receive().getInt(16);
        FutureTask<Void> abort = abort(request);
        ByteBuffer function = target.receive();
        target.respond(tag, 0);
        target.send(ScriptedTarget.pdu(Opcode.TASK_MANAGEMENT_RESPONSE, 0x80).putInt(16, function.getInt(16))
            .put(2, (byte) 1));
        abort.get(10, TimeUnit.SECONDS);
        assertThat(request.isGood()).isTrue();
    }

    @Test
    void sessionIsLostWhenTheTargetDoesNotRespondToAnAbort() throws Exception {
        IoRequest request = read();
        session.submit(request);
        FutureTask<Void> abort = abort(request);
        await("the abort has failed", () -> {
            clock.advance(Duration.ofMillis(100));
            return abort.isDone();
        });
        assertThatThrownBy(abort::get).hasMessageContaining("did not respond to ABORT TASK");
        assertThat(nextEnd()).contains("did not respond to ABORT TASK");
        assertThat(session.isOpen()).isFalse();
    }

    @Test
    void sessionIsLostWhenTheTargetDoesNotRespondToACommand() throws Exception {
        session.submit(read());
        await("the session is closed", () -> {
            clock.advance(Duration.ofSeconds(1));
            return !session.isOpen();
        });
        assertThat(nextEnd()).contains("has not responded to a command for 30000 ms");
        assertThatThrownBy(() -> session.acquire(SECOND)).isInstanceOfSatisfying(ShardException.class,
            e -> assertThat(e.kind()).isEqualTo(ShardException.Kind.PATH_LOST));
    }

    @Test
    void sessionStaysOpenWhileResponsesArriveWithinTheCommandTimeout() throws Exception {
        for (int i = 0; i < 10; i++) {
            session.submit(read());
            int tag = target.receive().getInt(16);
            clock.advance(Duration.ofSeconds(10));
            target.respond(tag, 0);
            assertThat(nextEnd()).isEqualTo("GOOD");
        }
        assertThat(session.isOpen()).isTrue();
    }

    @Test
    void sessionIsLostWhenTheTargetAcceptsNoCommandForTheCommandTimeout() throws Exception {
        FutureTask<Void> acquirer = start(() -> {
            // The session has 64 requests, and this loop never releases a request.
            while (true) {
                session.acquire(() -> false);
            }
        });
        await("the waiting thread has failed", () -> {
            clock.advance(Duration.ofSeconds(1));
            return acquirer.isDone();
        });
        assertThatThrownBy(acquirer::get).hasMessageContaining("has accepted no further command for 30000 ms");
    }

    @Test
    void writesInFlightFailWhenTheTargetReceivesNoData() throws Exception {
        int submitted = 0;
        Thread time = Thread.ofVirtual().start(() -> {
            while (session.isOpen()) {
                clock.advance(Duration.ofSeconds(1));
                LockSupport.parkNanos(1_000_000);
            }
        });
        try {
            for (; submitted < 64; submitted++) {
                session.submit(session.acquire(SECOND).write(0, 0, 64, memory, 0, 1 << 18)
                    .onCompletion(done -> ends.add(done.describeEnd())));
            }
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("shard");
        }
        int expected = submitted;
        await("every write has failed", () -> ends.size() == expected);
        time.join();
    }

    @Test
    void commandsInFlightFailWhenTheConnectionIsLost() throws Exception {
        session.submit(read());
        target.close();
        assertThat(nextEnd()).contains("closed the connection");
    }

    @Test
    void rejectFromTheTargetClosesTheSession() throws Exception {
        session.submit(read());
        target.send(ScriptedTarget.pdu(Opcode.REJECT, 0x80).put(2, (byte) 4).putInt(16, -1), new byte[48]);
        assertThat(nextEnd()).contains("rejected a PDU");
    }

    @Test
    void dataBeyondTheTransferLengthOfTheCommandClosesTheSession() throws Exception {
        session.submit(read());
        int tag = target.receive().getInt(16);
        target.send(ScriptedTarget.pdu(Opcode.DATA_IN, 0x80).putInt(16, tag).putInt(20, -1).putInt(40, 4096),
            new byte[4]);
        assertThat(nextEnd()).contains("sends data from offset 4096");
    }

    @Test
    void r2tBeyondTheTransferLengthOfTheCommandClosesTheSession() throws Exception {
        session.submit(session.acquire(SECOND).write(0, 0, 1, memory, 0, 4096)
            .onCompletion(done -> ends.add(done.describeEnd())));
        int tag = target.receive().getInt(16);
        target.send(ScriptedTarget.pdu(Opcode.R2T, 0x80).putInt(16, tag).putInt(40, 0).putInt(44, 8192));
        assertThat(nextEnd()).contains("requests data from offset 0 to 8192");
    }

    @Test
    void responseToAPingCarriesTheTagOfThePing() throws Exception {
        target.send(ScriptedTarget.pdu(Opcode.NOP_IN, 0x80).putInt(16, -1).putInt(20, 77));
        ByteBuffer answer = target.receive();
        assertThat(answer.get(0)).isEqualTo((byte) 0x40);
        assertThat(answer.getInt(20)).isEqualTo(77);
    }

    @Test
    void releasedRequestFreesItsSpaceInTheCommandWindow() throws Exception {
        for (int i = 0; i < 3000; i++) {
            session.release(session.acquire(SECOND));
        }
        assertThat(session.acquire(SECOND)).isNotNull();
    }
}
