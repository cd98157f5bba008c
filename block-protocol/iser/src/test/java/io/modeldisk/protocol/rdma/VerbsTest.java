package io.modeldisk.protocol.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests DiSNI's verbs on an RDMA device, with modeldisk's libdisni. Both peers of the connection are in this process. */
@Tag("softroce")
class VerbsTest {
    private static final int PORT = 26_100;
    private static final int UNUSED_PORT = 26_101;
    private static final int PIECE_BYTES = 256 * 1024;

    private InetAddress address;
    private RdmaEventChannel targetChannel;
    private RdmaEventChannel initiatorChannel;
    private RdmaCmId listener;
    private VerbsEndpoint target;
    private VerbsEndpoint initiator;

    @BeforeEach
    void listen() throws IOException {
        assumeTrue(Rdma.isAvailable(), "this test needs RDMA: " + Rdma.unavailabilityCause());
        address = Rdma.addresses().getFirst();
        targetChannel = RdmaEventChannel.createEventChannel();
        initiatorChannel = RdmaEventChannel.createEventChannel();
        listener = targetChannel.createId(RdmaCm.RDMA_PS_TCP);
        listener.bindAddr(new InetSocketAddress(address, PORT));
        listener.listen(8);
    }

    @AfterEach
    void close() throws IOException {
        if (listener == null) {
            return;
        }
        if (initiator != null) {
            initiator.close();
        }
        if (target != null) {
            target.close();
        }
        listener.destroyId();
        initiatorChannel.destroyEventChannel();
        targetChannel.destroyEventChannel();
    }

    private RdmaConnParam parameters(String privateData) throws IOException {
        RdmaConnParam parameters = new RdmaConnParam();
        parameters.setRetry_count((byte) 7);
        parameters.setRnr_retry_count((byte) 7);
        if (!privateData.isEmpty()) {
            MemorySegment bytes = initiator.data().asSlice(0, 64);
            bytes.setString(0, privateData);
            parameters.setPrivate_data(bytes.address());
            parameters.setPrivate_data_len((byte) (privateData.length() + 1));
        }
        return parameters;
    }

    /** Creates the initiator's endpoint, and sends its connection request. */
    private void request(int port, String privateData) throws IOException {
        RdmaCmId id = initiatorChannel.createId(RdmaCm.RDMA_PS_TCP);
        id.resolveAddr(null, new InetSocketAddress(address, port), VerbsEndpoint.TIMEOUT_MS);
        VerbsEndpoint.event(initiatorChannel, EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        id.resolveRoute(VerbsEndpoint.TIMEOUT_MS);
        VerbsEndpoint.event(initiatorChannel, EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
        initiator = new VerbsEndpoint(id);
        id.connect(parameters(privateData));
    }

    private void connect() throws IOException {
        request(PORT, "");
        RdmaCmEvent asked = VerbsEndpoint.event(targetChannel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        target = new VerbsEndpoint(asked.getConnIdPriv());
        target.id().accept(parameters(""));
        VerbsEndpoint.event(initiatorChannel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        VerbsEndpoint.event(targetChannel, EventType.RDMA_CM_EVENT_ESTABLISHED);
    }

    private static void assertGood(IbvWC completion, long requestId, int bytes) {
        assertThat(IbvWC.IbvWcStatus.valueOf(completion.getStatus())).isEqualTo(IbvWC.IbvWcStatus.IBV_WC_SUCCESS);
        assertThat(completion.getWr_id()).isEqualTo(requestId);
        if (bytes >= 0) {
            assertThat(completion.getByte_len()).isEqualTo(bytes);
        }
    }

    private static void fill(MemorySegment data, long seed) {
        for (long i = 0; i < data.byteSize(); i += Long.BYTES) {
            data.set(ValueLayout.JAVA_LONG, i, (i + seed) * 0x9E3779B97F4A7C15L);
        }
    }

    @Test
    void sentMessageArrivesInThePostedReceiveBuffer() throws IOException {
        connect();
        fill(initiator.data(), 1);
        target.receive(11, 4096, 1024);
        initiator.send(12, 512, 1000);
        assertGood(initiator.completion(), 12, -1);
        assertGood(target.completion(), 11, 1000);
        assertThat(target.data().asSlice(4096, 1000).mismatch(initiator.data().asSlice(512, 1000))).isEqualTo(-1);
    }

    @Test
    void rdmaWriteChangesOnlyItsRange() throws IOException {
        connect();
        fill(target.data(), 2);
        target.rdma(21, IbvSendWR.IBV_WR_RDMA_WRITE, 0, PIECE_BYTES, initiator.address() + PIECE_BYTES,
            initiator.remoteKey());
        assertGood(target.completion(), 21, -1);
        MemorySegment written = initiator.data().asSlice(PIECE_BYTES, PIECE_BYTES);
        assertThat(written.mismatch(target.data().asSlice(0, PIECE_BYTES))).isEqualTo(-1);
        assertThat(initiator.data().asSlice(0, PIECE_BYTES).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        assertThat(initiator.data().get(ValueLayout.JAVA_BYTE, 2 * PIECE_BYTES)).isZero();
    }

    @Test
    void rdmaReadFetchesTheRequestedRange() throws IOException {
        connect();
        fill(initiator.data(), 3);
        target.rdma(31, IbvSendWR.IBV_WR_RDMA_READ, PIECE_BYTES, PIECE_BYTES, initiator.address() + 4096,
            initiator.remoteKey());
        assertGood(target.completion(), 31, -1);
        assertThat(target.data().asSlice(PIECE_BYTES, PIECE_BYTES)
            .mismatch(initiator.data().asSlice(4096, PIECE_BYTES))).isEqualTo(-1);
    }

    @Test
    void rdmaWriteWithAWrongKeyFailsAndChangesNoMemory() throws IOException {
        connect();
        fill(target.data(), 4);
        target.rdma(41, IbvSendWR.IBV_WR_RDMA_WRITE, 0, 4096, initiator.address(), initiator.remoteKey() ^ 0x5A00);
        IbvWC completion = target.completion();
        assertThat(completion.getWr_id()).isEqualTo(41);
        assertThat(IbvWC.IbvWcStatus.valueOf(completion.getStatus()))
            .isEqualTo(IbvWC.IbvWcStatus.IBV_WC_REM_ACCESS_ERR);
        assertThat(initiator.data().asSlice(0, 4096).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void rdmaReadBeyondTheMemoryRegionFails() throws IOException {
        connect();
        target.rdma(51, IbvSendWR.IBV_WR_RDMA_READ, 0, 8192, initiator.address() + VerbsEndpoint.MEMORY_BYTES - 4096,
            initiator.remoteKey());
        IbvWC completion = target.completion();
        assertThat(completion.getWr_id()).isEqualTo(51);
        assertThat(completion.getStatus()).isNotEqualTo(IbvWC.IbvWcStatus.IBV_WC_SUCCESS.ordinal());
    }

    @Test
    void bothPeersReceivePrivateDataDuringTheConnect() throws IOException {
        request(PORT, "from the initiator");
        RdmaCmEvent asked = VerbsEndpoint.event(targetChannel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        byte[] said = ConnectionDetails.lastEvent(targetChannel).privateData();
        assertThat(new String(said, StandardCharsets.US_ASCII)).startsWith("from the initiator\0");
        target = new VerbsEndpoint(asked.getConnIdPriv());
        byte[] answer = "from the target\0".getBytes(StandardCharsets.US_ASCII);
        ConnectionDetails.accept(target.id(), parameters(""), answer);
        VerbsEndpoint.event(initiatorChannel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        byte[] heard = ConnectionDetails.lastEvent(initiatorChannel).privateData();
        assertThat(new String(heard, StandardCharsets.US_ASCII)).startsWith("from the target\0");
        assertThat(Rdma.devices()).contains(ConnectionDetails.deviceName(target.id()));
    }

    @Test
    void initiatorReceivesARejectionEventIfTheTargetRefusesTheConnection() throws IOException {
        request(PORT, "");
        RdmaCmEvent asked = VerbsEndpoint.event(targetChannel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        asked.getConnIdPriv().destroyId();
        VerbsEndpoint.event(initiatorChannel, EventType.RDMA_CM_EVENT_REJECTED);
    }

    @Test
    void connectionToAPortWithoutAListenerIsRejected() throws IOException {
        request(UNUSED_PORT, "");
        VerbsEndpoint.event(initiatorChannel, EventType.RDMA_CM_EVENT_REJECTED);
        assertThat(ConnectionDetails.lastEvent(initiatorChannel).status()).isNotZero();
    }

    @Test
    void waitForAnEventReturnsAfterItsTimeout() throws IOException {
        assertThat(initiatorChannel.getCmEvent(10)).isNull();
    }

    @Test
    void errorOfAFailedVerbContainsTheErrnoAndItsText() throws IOException {
        RdmaCmId id = initiatorChannel.createId(RdmaCm.RDMA_PS_TCP);
        try {
            assertThatThrownBy(() -> id.bindAddr(new InetSocketAddress("192.0.2.1", 0)))
                .isInstanceOf(IOException.class)
                .hasMessageMatching("rdma_bind_addr failed: .* \\(errno (19|99)\\)");
            assertThatThrownBy(id::getVerbs).isInstanceOf(IOException.class).hasMessageContaining("no RDMA device yet");
        } finally {
            id.destroyId();
        }
    }

    @Test
    void registrationOfUnmappedMemoryFails() throws IOException {
        connect();
        long gone;
        try (DataMemory memory = DataMemory.allocate(1 << 26)) {
            gone = memory.address(0);
        }
        assertThatThrownBy(() -> target.id().getVerbs().allocPd().regMr(gone, 1 << 26, 1).execute())
            .isInstanceOf(IOException.class).hasMessageContaining("ibv_reg_mr failed for 67108864 bytes")
            .hasMessageContaining("errno");
    }
}
