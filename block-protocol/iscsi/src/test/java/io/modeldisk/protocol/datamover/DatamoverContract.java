package io.modeldisk.protocol.datamover;

import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.NopOutPdu;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The tests that every datamover must pass. The test class of a datamover extends this class and connects an initiator with a
 * target.
 */
@Timeout(60)
public abstract class DatamoverContract {
    private static final OperationalParameters AGREED = new OperationalParameters(false, true, 64 << 10, 1 << 20,
        1 << 20,
        1 << 20, Digest.NONE, Digest.NONE);
    private static final int MEMORY_BYTES = 40 << 20;
    private static final long PATIENCE_SECONDS = 20;

    private final InitiatorSide initiator = new InitiatorSide();
    private final TargetSide target = new TargetSide();
    private DatamoverPair pair;
    private DataMemory memory;
    private CompletableFuture<Throwable> targetEnd;
    private CompletableFuture<Throwable> initiatorEnd;
    private CompletableFuture<Throwable> senderEnd;

    /** Returns the object that connects an initiator and a target. */
    protected abstract DatamoverPair.Maker maker();

    @BeforeEach
    void connect() throws IOException {
        pair = maker().connect(initiator, target, TargetSide.SLOTS);
        target.datamover(pair.target());
        memory = pair.allocate(MEMORY_BYTES);
        pair.initiator().enable(AGREED);
        pair.target().enable(AGREED);
        MemorySegment.copy(random(TargetSide.SOURCE_BYTES, 1), 0, target.source.slab(0), ValueLayout.JAVA_BYTE, 0,
            TargetSide.SOURCE_BYTES);
        targetEnd = loop("target", () -> pair.target().receive(target));
        initiatorEnd = loop("initiator", () -> pair.initiator().receive(initiator));
        senderEnd = pair.initiator().solicitedData().map(data -> loop("sender", () -> {
            data.serveRequests(initiator);
            throw new EOFException("serveRequests has returned");
        })).orElseGet(() -> CompletableFuture.completedFuture(new EOFException("the target moves all data")));
        // The initiator sends the first PDU of a connection.
        ping(1, new byte[0]);
        assertThat(next().tag()).isEqualTo(1);
    }

    /** Runs a step repeatedly on a new thread. Returns a future of the exception that stopped the thread. */
    private static CompletableFuture<Throwable> loop(String name, TargetSide.Action step) {
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("contract-" + name).start(() -> {
            try {
                while (true) {
                    step.run();
                }
            } catch (Throwable e) {
                end.complete(e);
            }
        });
        return end;
    }

    @AfterEach
    void closeAll() throws Exception {
        pair.initiator().close();
        pair.target().close();
        targetEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        pair.target().release();
        initiatorEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        pair.initiator().release();
        memory.close();
        target.close();
    }

    private void ping(int tag, byte[] data) throws IOException {
        NopOutPdu nopOut = new NopOutPdu(Pdu.newHeader()).beginAnswer(0, Pdu.RESERVED_TAG);
        nopOut.initiatorTaskTag(tag);
        pair.initiator().sendControl(nopOut, data.length == 0 ? null : ByteBuffer.wrap(data));
    }

    private InitiatorSide.Arrived next() {
        try {
            InitiatorSide.Arrived next = initiator.arrived.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertThat(next).as("a PDU arrives; " + target).isNotNull();
            return next;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void fill(long offset, byte[] data) {
        MemorySegment.copy(data, 0, memory.slab(0), ValueLayout.JAVA_BYTE, offset, data.length);
    }

    private byte[] bytes(long offset, int length) {
        return memory.segment(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private byte[] sourceBytes(int tag, int length) {
        return target.source.segment(tag * 4096L, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 511, 4096, 8191, 8192, 65536})
    void pingDataIsReturnedUnchangedUnlessTheDataIsTooLong(int length) throws IOException {
        byte[] data = random(length, length);
        if (length > pair.mostControlBytes()) {
            assertThatThrownBy(() -> ping(7, data)).isInstanceOf(ProtocolException.class)
                .hasMessageContaining(String.valueOf(length));
            return;
        }
        ping(7, data);
        InitiatorSide.Arrived answer = next();
        assertThat(answer.opcode()).isEqualTo(Opcode.NOP_IN);
        assertThat(answer.data()).isEqualTo(data);
    }

    @Test
    void responsesArriveInTheOrderOfThePings() throws IOException {
        for (int i = 0; i < 500; i++) {
            ping(100 + i, random(i, i));
        }
        for (int i = 0; i < 500; i++) {
            InitiatorSide.Arrived answer = next();
            assertThat(answer.tag()).isEqualTo(100 + i);
            assertThat(answer.data()).isEqualTo(random(i, i));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4096, 8192, 32 << 10, 256 << 10, (256 << 10) + 4096, 1 << 20, 4 << 20, 8 << 20})
    void getDataFetchesAllDataOfAWrite(int length) throws IOException {
        byte[] data = random(length, length);
        fill(12288, data);
        initiator.write(pair.initiator(), 5, memory, 12288, length);
        assertThat(next()).usingRecursiveComparison().isEqualTo(
            new InitiatorSide.Arrived(Opcode.SCSI_RESPONSE, 5, 0, new byte[0]));
        assertThat(target.written.get(5)).isEqualTo(data);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4096, 8192, 32 << 10, 256 << 10, (256 << 10) + 4096, 1 << 20, 4 << 20, 8 << 20})
    void putDataWritesExactlyTheMemoryOfARead(int length) throws IOException {
        byte[] around = random(4096 + length + 4096, 3);
        fill(4096, around);
        initiator.read(pair.initiator(), 6, memory, 8192, length);
        InitiatorSide.Arrived end = next();
        assertThat(end.tag()).isEqualTo(6);
        assertThat(end.status()).isZero();
        assertThat(bytes(8192, length)).isEqualTo(sourceBytes(6, length));
        assertThat(bytes(4096, 4096)).isEqualTo(Arrays.copyOf(around, 4096));
        assertThat(bytes(8192L + length, 4096))
            .isEqualTo(Arrays.copyOfRange(around, 4096 + length, around.length));
    }

    @Test
    void readReturnsCorrectDataIfTheTargetRefillsItsBuffersAfterEachPut() throws IOException {
        int length = 8 << 20;
        target.refilling = true;
        for (int tag = 1; tag <= 4; tag++) {
            initiator.read(pair.initiator(), tag, memory, (long) tag * length, length);
            assertThat(next().status()).isZero();
            assertThat(bytes((long) tag * length, length)).isEqualTo(sourceBytes(tag, length));
        }
    }

    @Test
    void interleavedReadsAndWritesTransferCorrectData() throws IOException {
        int length = 1 << 20;
        byte[][] data = new byte[TargetSide.SLOTS][];
        for (int i = 0; i < TargetSide.SLOTS; i++) {
            data[i] = random(length, i);
            fill((long) i * 2 * length, data[i]);
        }
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < TargetSide.SLOTS; i++) {
                if (i % 2 == 0) {
                    initiator.write(pair.initiator(), 10 + i, memory, (long) i * 2 * length, length);
                } else {
                    initiator.read(pair.initiator(), 10 + i, memory, (long) i * 2 * length, length);
                }
            }
            for (int i = 0; i < TargetSide.SLOTS; i++) {
                assertThat(next().status()).isZero();
            }
            for (int i = 0; i < TargetSide.SLOTS; i += 2) {
                assertThat(target.written.remove(10 + i)).isEqualTo(data[i]);
                assertThat(bytes((long) (i + 1) * 2 * length, length)).isEqualTo(sourceBytes(11 + i, length));
            }
        }
    }

    @Test
    void targetCanReuseATransferAfterTheInitiatorHasAcknowledgedTheStatus() throws IOException {
        int length = 16 << 10;
        for (int i = 0; i < 400; i++) {
            if (i >= TargetSide.SLOTS) {
                int tag = next().tag();
                assertThat(bytes((long) (tag % TargetSide.SLOTS) * length, length)).isEqualTo(sourceBytes(tag, length));
            }
            // The target has exactly one transfer for each command in flight. The test fails if the target needs one more.
            initiator.read(pair.initiator(), i, memory, (long) (i % TargetSide.SLOTS) * length, length);
        }
        for (int i = 0; i < TargetSide.SLOTS; i++) {
            assertThat(next().status()).isZero();
        }
    }

    @Test
    void writesFromManySuccessiveAllocationsTransferCorrectData() throws IOException {
        for (int i = 0; i < 300; i++) {
            try (DataMemory another = pair.allocate(8192)) {
                byte[] data = random(4096, i);
                MemorySegment.copy(data, 0, another.slab(0), ValueLayout.JAVA_BYTE, 4096, data.length);
                initiator.write(pair.initiator(), 20, another, 4096, 4096);
                assertThat(next().status()).isZero();
                assertThat(target.written.remove(20)).isEqualTo(data);
            }
        }
    }

    @Test
    void writesAfterAnAbortedWriteTransferCorrectData() throws IOException {
        target.holding = true;
        fill(0, random(1 << 20, 1));
        initiator.write(pair.initiator(), 30, memory, 0, 1 << 20);
        ping(31, new byte[0]);
        assertThat(next().tag()).isEqualTo(31);
        initiator.forget(30);
        pair.initiator().awaitEndedTasks();
        // When the next ping arrives, the target's receiving thread aborts the write with tag 30.
        target.holding = false;
        target.onNextPing = target::abortHeld;
        ping(32, new byte[0]);
        assertThat(next().tag()).isEqualTo(32);
        byte[] data = random(1 << 20, 2);
        fill(2 << 20, data);
        for (int i = 0; i < 2 * TargetSide.SLOTS; i++) {
            initiator.write(pair.initiator(), 40 + i, memory, 2 << 20, 1 << 20);
            assertThat(next().status()).isZero();
            assertThat(target.written.get(40 + i)).isEqualTo(data);
        }
        assertThat(target.written).doesNotContainKey(30);
    }

    @Test
    void targetReceiveFailsAfterTheInitiatorIsKilled() throws Exception {
        fill(0, random(8 << 20, 1));
        for (int i = 0; i < TargetSide.SLOTS / 2; i++) {
            initiator.write(pair.initiator(), 50 + i, memory, 0, 8 << 20);
        }
        pair.killInitiator();
        assertThat(targetEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
    }

    @Test
    void initiatorCallsFailAfterTheTargetIsKilled() throws Exception {
        for (int i = 0; i < TargetSide.SLOTS / 2; i++) {
            initiator.read(pair.initiator(), 1 + i, memory, 0, 8 << 20);
        }
        pair.killTarget();
        assertThat(initiatorEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        pair.initiator().close();
        assertThat(senderEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isNotNull();
        assertThatThrownBy(() -> {
            for (int i = 0; i < 1000; i++) {
                ping(i, new byte[0]);
            }
        }).isInstanceOf(IOException.class);
    }

    @Test
    void receiveFailsAtBothEndsAfterTheTargetIsClosedAndReleased() throws Exception {
        pair.target().close();
        assertThat(targetEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        pair.target().release();
        assertThat(initiatorEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
    }

    @Test
    void initiatorAndTargetCallsFailAfterTheInitiatorIsClosed() throws Exception {
        pair.initiator().close();
        assertThat(targetEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        pair.target().close();
        pair.target().release();
        assertThat(initiatorEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        assertThat(senderEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void sendBlocksUntilTheInitiatorIsClosedIfTheTargetDoesNotRead() throws Exception {
        CompletableFuture<Void> stuck = new CompletableFuture<>();
        target.onNextPing = () -> stuck.join();
        ping(60, new byte[0]);
        CompletableFuture<Throwable> sender = loop("flood", () -> ping(61, new byte[8192]));
        await("the sender is blocked", () -> isStuck(pair.initiator().sendingSinceNs()));
        assertThat(sender).isNotDone();
        pair.initiator().close();
        assertThat(sender.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        stuck.complete(null);
    }

    private static boolean isStuck(long sendingSinceNs) {
        return sendingSinceNs != 0 && System.nanoTime() - sendingSinceNs > TimeUnit.MILLISECONDS.toNanos(300);
    }

    @Test
    void sendBlocksUntilTheTargetIsClosedIfTheInitiatorDoesNotRead() throws Exception {
        CompletableFuture<Void> stuck = new CompletableFuture<>();
        initiator.onNext = () -> stuck.join();
        ping(70, new byte[0]);
        CompletableFuture<Throwable> sender = loop("flood", () -> ping(71, new byte[8192]));
        await("the target is blocked", () -> isStuck(pair.target().liveness().sendingSinceNs()));
        pair.target().close();
        assertThat(targetEnd.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        pair.initiator().close();
        assertThat(sender.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        stuck.complete(null);
    }
}
