package io.modeldisk.protocol.datamover.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.InitiatorSide.Task;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.TargetSide;
import io.modeldisk.protocol.datamover.Unnumbered;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.NopOutPdu;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that a faulty initiator cannot harm its target. */
@Timeout(30)
final class ShmSafetyTest {
    private static final int SLAB_BYTES = 64 << 10;
    private static final int TAG = 3;

    private final TargetSide engine = new TargetSide();
    private final MappingLimits limits = new MappingLimits(2 * SLAB_BYTES, 3 * SLAB_BYTES);
    private UnixSocket near;
    private FrameStream peer;
    private ShmTargetDatamover target;
    private DataMemory memory;
    private long descriptorsBefore;

    @BeforeEach
    void connect() throws IOException {
        memory = DataMemory.allocateShareable(SLAB_BYTES);
        descriptorsBefore = descriptors();
        UnixSocket[] pair = UnixSocket.pair();
        near = pair[0];
        peer = new FrameStream(near, "the target", NanoClock.SYSTEM);
        target = new ShmTargetDatamover(pair[1], "the initiator", engine, limits, NanoClock.SYSTEM);
        engine.datamover(target);
        peer.writer().send(Frame.HELLO, Frame.NO_TAG, 0, -1);
        target.receive(engine);
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        target.close();
        target.release();
        near.close();
        assertThat(descriptors()).isEqualTo(descriptorsBefore);
        assertThat(limits.mappedBytes()).isZero();
        memory.close();
        engine.close();
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    private void register(int tag) throws IOException {
        peer.writer().send(Frame.REGISTER, tag, 0, memory.descriptor());
        target.receive(engine);
    }

    private void command(int taskTag, int bytes, int tag, long offset) throws IOException {
        ScsiCommandPdu command = new ScsiCommandPdu(Pdu.newHeader()).beginWrite(bytes);
        command.initiatorTaskTag(taskTag);
        peer.writer().send(command, null, tag, offset);
        target.receive(engine);
    }

    @ParameterizedTest
    @CsvSource({"4, 0", "-1, 0", "2147483647, 0", "-2147483648, 0", "3, 61441", "3, -1", "3, 65536", "3, 65537",
        "3, 9223372036854775807", "3, -9223372036854775808", "3, 1073741824"})
    void commandOutsideRegisteredMemoryFailsWithoutClosingTheConnection(int tag, long offset) throws IOException {
        register(TAG);
        command(7, 4096, tag, offset);
        assertThat(engine.failed).containsEntry(7, DataError.WRONG_MEMORY);
        command(8, 4096, TAG, SLAB_BYTES - 4096);
        assertThat(engine.written).containsKey(8).doesNotContainKey(7);
    }

    @Test
    void commandLongerThanItsRegisteredMemoryFails() throws IOException {
        register(TAG);
        command(7, SLAB_BYTES + 1, TAG, 0);
        command(8, -1, TAG, 0);
        assertThat(engine.failed).containsEntry(7, DataError.WRONG_MEMORY).containsEntry(8, DataError.WRONG_MEMORY);
    }

    @Test
    void commandWithAnInvalidatedSteeringTagFails() throws IOException {
        register(TAG);
        peer.writer().send(Frame.INVALIDATE, TAG, 0, -1);
        target.receive(engine);
        command(7, 4096, TAG, 0);
        assertThat(engine.failed).containsEntry(7, DataError.WRONG_MEMORY);
        assertThat(limits.mappedBytes()).isZero();
        register(TAG);
        command(8, 4096, TAG, 0);
        assertThat(engine.written).containsKey(8);
    }

    @ParameterizedTest
    @CsvSource({"-1, must be from 0 to 255", "256, must be from 0 to 255", "3, is in use"})
    void registrationOfAnInvalidSteeringTagIsAProtocolError(int tag, String reason) throws IOException {
        register(TAG);
        assertThatThrownBy(() -> register(tag)).isInstanceOf(ProtocolException.class)
            .hasMessage("the initiator registered steering tag " + tag + ", which " + reason);
    }

    @Test
    void refusalOfARegistrationAboveTheConnectionLimitReportsTheLimit() throws IOException {
        register(1);
        register(2);
        assertThatThrownBy(() -> register(3)).isInstanceOf(IOException.class)
            .hasMessageContaining("the limit is 131072");
        peer.reader().next();
        assertThat(peer.reader().kind()).isEqualTo(Frame.REFUSE);
        assertThat(StandardCharsets.UTF_8.decode(peer.reader().data()).toString()).contains("the limit is 131072");
    }

    @Test
    void registrationAboveTheTotalLimitIsRefused() throws IOException {
        assertThat(limits.take(2 * SLAB_BYTES)).isTrue();
        register(1);
        assertThatThrownBy(() -> register(2)).isInstanceOf(IOException.class).hasMessageContaining("all connections");
        limits.give(2 * SLAB_BYTES);
    }

    @Test
    void registrationOfADescriptorThatIsNotAMemfdIsRefused() throws IOException {
        peer.writer().send(Frame.REGISTER, TAG, 0, near.descriptor());
        assertThatThrownBy(() -> target.receive(engine)).isInstanceOf(IOException.class)
            .hasMessageContaining("is not a memfd");
    }

    @Test
    void registrationWithoutADescriptorIsAProtocolError() throws IOException {
        peer.writer().send(Frame.REGISTER, TAG, 0, -1);
        assertThatThrownBy(() -> target.receive(engine)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void unusedDescriptorsAreAProtocolError() throws IOException {
        register(TAG);
        assertThatThrownBy(() -> {
            for (int i = 0; i < 10; i++) {
                peer.writer().send(Frame.PDU, Frame.NO_TAG, 0, memory.descriptor());
                target.receive(engine);
            }
        }).isInstanceOf(ProtocolException.class).hasMessageContaining("descriptors");
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "5", "6", "-1"})
    void frameOfUnexpectedKindIsAProtocolError(byte kind) throws IOException {
        peer.writer().send(kind, Frame.NO_TAG, 0, -1);
        assertThatThrownBy(() -> target.receive(engine)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void immediateDataOverSharedMemoryIsAProtocolError() throws IOException {
        ScsiCommandPdu command = new ScsiCommandPdu(Pdu.newHeader()).beginWrite(4096);
        command.dataSegmentBytes(4);
        peer.writer().send(command, ByteBuffer.wrap(new byte[4]), TAG, 0);
        assertThatThrownBy(() -> target.receive(engine)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void dataSegmentLongerThanTheBufferIsAProtocolError() throws IOException {
        NopOutPdu ping = new NopOutPdu(Pdu.newHeader()).beginAnswer(0, Pdu.RESERVED_TAG);
        ping.dataSegmentBytes(0xFFFFFF);
        peer.writer().send(ping, null, Frame.NO_TAG, 0);
        assertThatThrownBy(() -> target.receive(engine)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void writeFromMemoryThatIsNotShareableIsRefused() throws IOException {
        try (DataMemory plain = DataMemory.allocate(4096)) {
            ShmInitiatorDatamover initiator = new ShmInitiatorDatamover(near, "the target", new Unnumbered(),
                NanoClock.SYSTEM);
            ScsiCommandPdu command = new ScsiCommandPdu(Pdu.newHeader()).beginWrite(4096);
            assertThatThrownBy(() -> initiator.sendCommand(command, new Task(1, true, plain, 0, 4096), false))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("allocateShareable");
        }
    }
}
