package io.modeldisk.protocol.datamover.iser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostSend;
import io.modeldisk.protocol.datamover.Unnumbered;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.rdma.QueuePair;
import io.modeldisk.protocol.rdma.Rdma;
import io.modeldisk.protocol.rdma.RegisteredMemory;
import io.modeldisk.protocol.rdma.Work;
import io.modeldisk.protocol.rdma.WorkRequests;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that an initiator cannot access memory of the target before the login. */
@Tag("softroce")
final class IserRightsTest {
    private static final int BYTES = 4096;
    private static final byte WEIGHT = 0x11;
    private static final byte HOSTILE = 0x66;

    @BeforeAll
    static void needsADevice() {
        assumeTrue(Rdma.isAvailable(), "this test needs RDMA: " + Rdma.unavailabilityCause());
    }

    @ParameterizedTest
    @ValueSource(ints = {IbvSendWR.IBV_WR_RDMA_WRITE, IbvSendWR.IBV_WR_RDMA_READ})
    void initiatorCannotAccessMemoryOfTheTargetBeforeLogin(int opcode) throws IOException {
        try (DataMemory weights = DataMemory.allocate(BYTES); DataMemory peers = DataMemory.allocate(BYTES)) {
            IserPair pair = IserPair.connect(new Unnumbered(), (pdu, _) -> fail("the target sent the PDU " + pdu), 1);
            try {
                weights.slab(0).fill(WEIGHT);
                peers.slab(0).fill(HOSTILE);
                RegisteredMemory victim = ((IserTargetDatamover) pair.target()).channel.registered(weights);
                assertThatThrownBy(() -> request(pair, opcode, peers, victim))
                    .isInstanceOf(IOException.class).hasMessageContaining("IBV_WC_REM_ACCESS_ERR");
                assertThat(weights.slab(0).get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(WEIGHT);
                assertThat(peers.slab(0).get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(HOSTILE);
            } finally {
                pair.killInitiator();
                pair.killTarget();
            }
        }
    }

    /**
     * Runs one RDMA request of the initiator on memory of the target. The request uses the local key of this memory, because a
     * device might assign no remote key to memory without remote rights. A remote key, if there is one, equals the local key.
     */
    private static void request(IserPair pair, int opcode, DataMemory own, RegisteredMemory victim)
        throws IOException {
        IserChannel channel = ((IserInitiatorDatamover) pair.initiator()).channel;
        QueuePair queue = ((IserInitiatorDatamover) pair.initiator()).queue;
        try (QueuePair.Use _ = queue.enter()) {
            Work work = queue.add(new Work("a hostile RDMA request", false));
            SVCPostSend call = queue.prepare(WorkRequests.send(opcode, IbvSendWR.IBV_SEND_SIGNALED, 1));
            SVCPostSend.SendWRMod request = call.getWrMod(0);
            request.setWr_id(work.id());
            RegisteredMemory local = channel.registered(own);
            request.getSgeMod(0).setAddr(local.address(0));
            request.getSgeMod(0).setLength(BYTES);
            request.getSgeMod(0).setLkey(local.localKey(0));
            request.getRdmaMod().setRemote_addr(victim.address(0));
            request.getRdmaMod().setRkey(victim.localKey(0));
            queue.awaitEnd(work, queue.post(call, work, 1));
        }
    }
}
