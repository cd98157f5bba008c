package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.READ;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.pdu.Opcode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that data moves in both directions of a connection at the same time. */
@Timeout(60)
class FullDuplexTest {
    private static final int BLOCK = Serving.BLOCK;
    private static final int MIB = 1 << 20;
    private static final int WRITE_BYTES = 256 << 10;
    private static final int READ_BYTES = 7 * MIB;
    /** The number of reads. Their data together exceeds the capacity of the socket buffers. */
    private static final int READS = 4;

    @Test
    void writeCompletesWhileItsInitiatorDoesNotReceiveReadData() throws IOException {
        try (Serving serving = new Serving(context -> context.bufferBytes(256L * BufferPool.CHUNK_BYTES));
            RawInitiator raw = serving.login("MaxRecvDataSegmentLength=262144")) {
            for (int i = 0; i < 4 * READS; i++) {
                raw.run(RawInitiator.NO_DATA, new byte[16], 0, EMPTY);
            }
            byte[] before = serving.fill(1);
            byte[] data = random(WRITE_BYTES, 2);
            int write = raw.command(WRITE, RawInitiator.write(0, WRITE_BYTES / BLOCK), WRITE_BYTES, EMPTY);
            Reply r2t = raw.receive();
            assertThat(r2t.opcode()).isEqualTo(Opcode.R2T);
            List<Integer> reads = new ArrayList<>();
            for (int i = 0; i < READS; i++) {
                reads.add(raw.command(READ, RawInitiator.read(MIB / BLOCK, READ_BYTES / BLOCK), READ_BYTES,
                    EMPTY));
            }
            raw.dataOut(write, r2t.targetTransferTag(), 0, 0, data, true);
            await("the write reaches the medium", () -> Arrays.equals(serving.contents(0, WRITE_BYTES), data));
            Map<Integer, ByteArrayOutputStream> ended = receiveEnds(raw, READS + 1);
            assertThat(ended).containsKey(write);
            for (int read : reads) {
                assertThat(ended.get(read).toByteArray())
                    .isEqualTo(Arrays.copyOfRange(before, MIB, MIB + READ_BYTES));
            }
        }
    }

    /**
     * Receives the responses of commands and checks that each status is GOOD. Returns a map from the task tag of each command to
     * the data that the target sent for the command.
     */
    private static Map<Integer, ByteArrayOutputStream> receiveEnds(RawInitiator raw, int commands) throws IOException {
        Map<Integer, ByteArrayOutputStream> data = new HashMap<>();
        for (int ended = 0; ended < commands;) {
            Reply reply = raw.receive();
            data.computeIfAbsent(reply.tag(), _ -> new ByteArrayOutputStream());
            if (reply.opcode() == Opcode.DATA_IN) {
                data.get(reply.tag()).writeBytes(reply.data());
            }
            if (reply.opcode() == Opcode.SCSI_RESPONSE || (reply.flags() & 1) != 0) {
                assertThat(reply.u8(3)).as("status").isZero();
                ended++;
            }
        }
        return data;
    }
}
