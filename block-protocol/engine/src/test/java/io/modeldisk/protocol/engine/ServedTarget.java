package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.pdu.Opcode;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * Starts a server and logs in an initiator before each test. A subclass can override {@link #serve} to use other settings. Checks
 * after each test that the server holds no resources of the initiator.
 */
@Timeout(60)
abstract class ServedTarget {
    static final int BLOCK = Serving.BLOCK;

    Serving serving;
    RawInitiator raw;

    @BeforeEach
    void serve() throws IOException {
        serving = new Serving();
        raw = serving.login();
    }

    @AfterEach
    void end() throws IOException {
        raw.close();
        serving.awaitNothingLeft();
        serving.close();
    }

    static void assertReject(Reply reply, int reason, ByteBuffer header) {
        assertThat(reply.opcode()).as("opcode").isEqualTo(Opcode.REJECT);
        assertThat(reply.u8(2)).as("reason").isEqualTo(reason);
        assertThat(reply.tag()).isEqualTo(RawInitiator.NONE);
        assertThat(reply.data()).as("the header of the rejected PDU").isEqualTo(header.array());
    }

    /** Sends a read of one block and waits until the logical unit has parked it. Returns the task tag of the read. */
    int parkedRead(RawInitiator initiator) throws IOException {
        return parked(initiator, RawInitiator.READ, RawInitiator.read(0, 1), RawInitiator.EMPTY);
    }

    /** Sends a write of one block and waits until the logical unit has parked it. Returns the task tag of the write. */
    int parkedWrite(RawInitiator initiator) throws IOException {
        return parked(initiator, RawInitiator.WRITE, RawInitiator.write(0, 1), new byte[BLOCK]);
    }

    private int parked(RawInitiator initiator, int flags, byte[] cdb, byte[] data) throws IOException {
        serving.target.unit.parking = true;
        int before = serving.target.unit.parked.size();
        int tag = initiator.command(flags, cdb, BLOCK, data);
        await("the task is parked", () -> serving.target.unit.parked.size() > before);
        return tag;
    }
}
