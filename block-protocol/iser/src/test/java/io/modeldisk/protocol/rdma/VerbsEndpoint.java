package io.modeldisk.protocol.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.LinkedList;
import java.util.List;

/** One peer of an RDMA connection: a queue pair, a completion queue and 1 MiB of registered memory. */
final class VerbsEndpoint implements AutoCloseable {
    static final int TIMEOUT_MS = 20_000;
    static final int MEMORY_BYTES = 1 << 20;

    private static final int QUEUE_DEPTH = 16;
    private static final int ACCESS = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ
        | IbvMr.IBV_ACCESS_REMOTE_WRITE;

    private final RdmaCmId id;
    private final DataMemory memory = DataMemory.allocate(MEMORY_BYTES);
    private final IbvPd domain;
    private final IbvCompChannel completions;
    private final IbvCQ queue;
    private final IbvQP pair;
    private final IbvMr region;
    private final SVCReqNotify arm;
    private final IbvWC[] completion = {new IbvWC()};
    private final SVCPollCq poll;

    /** Creates the verbs objects on the device of {@code id}. */
    VerbsEndpoint(RdmaCmId id) throws IOException {
        this.id = id;
        domain = id.getVerbs().allocPd();
        completions = id.getVerbs().createCompChannel();
        queue = id.getVerbs().createCQ(completions, 2 * QUEUE_DEPTH, 0);
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(queue);
        attributes.setRecv_cq(queue);
        attributes.cap().setMax_send_wr(QUEUE_DEPTH);
        attributes.cap().setMax_recv_wr(QUEUE_DEPTH);
        attributes.cap().setMax_inline_data(64);
        pair = id.createQP(domain, attributes);
        region = domain.regMr(memory.address(0), MEMORY_BYTES, ACCESS).execute().free().getMr();
        arm = queue.reqNotification(false);
        poll = queue.poll(completion, 1);
    }

    RdmaCmId id() {
        return id;
    }

    MemorySegment data() {
        return memory.segment(0, MEMORY_BYTES);
    }

    long address() {
        return memory.address(0);
    }

    int remoteKey() {
        return region.getRkey();
    }

    /** Posts a receive into the memory at {@code offset}. */
    void receive(long requestId, int offset, int bytes) throws IOException {
        IbvRecvWR request = new IbvRecvWR();
        request.setWr_id(requestId);
        request.setSg_list(part(offset, bytes));
        pair.postRecv(List.of(request), null).execute().free();
    }

    void send(long requestId, int offset, int bytes) throws IOException {
        rdma(requestId, IbvSendWR.IBV_WR_SEND, offset, bytes, 0, 0);
    }

    /** Posts an RDMA READ or WRITE between the memory at {@code offset} and the memory of the peer. */
    void rdma(long requestId, int opcode, int offset, int bytes, long remoteAddress, int remoteKey) throws IOException {
        IbvSendWR request = new IbvSendWR();
        request.setWr_id(requestId);
        request.setOpcode(opcode);
        request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        request.setSg_list(part(offset, bytes));
        request.getRdma().setRemote_addr(remoteAddress);
        request.getRdma().setRkey(remoteKey);
        pair.postSend(List.of(request), null).execute().free();
    }

    private LinkedList<IbvSge> part(int offset, int bytes) {
        IbvSge part = new IbvSge();
        part.setAddr(address() + offset);
        part.setLength(bytes);
        part.setLkey(region.getLkey());
        return new LinkedList<>(List.of(part));
    }

    /** Returns the next completion. If there is none yet, waits for a completion event. Fails if no event arrives in time. */
    IbvWC completion() throws IOException {
        arm.execute();
        if (poll.execute().getPolls() == 0) {
            assertThat(completions.getCqEvent(queue, TIMEOUT_MS)).as("a completion event arrives").isTrue();
            queue.ackEvents(1);
            assertThat(poll.execute().getPolls()).isOne();
        }
        return completion[0];
    }

    /** Waits for the next event of a channel, and returns the event. Fails if the event does not have the expected type. */
    static RdmaCmEvent event(RdmaEventChannel channel, RdmaCmEvent.EventType expected) throws IOException {
        RdmaCmEvent event = channel.getCmEvent(TIMEOUT_MS);
        assertThat(event).as("an event arrives").isNotNull();
        assertThat(RdmaCmEvent.EventType.values()[event.getEvent()]).isEqualTo(expected);
        return event;
    }

    @Override
    public void close() throws IOException {
        id.destroyQP();
        region.deregMr().execute().free();
        queue.destroyCQ();
        completions.destroyCompChannel();
        try {
            domain.deallocPd();
        } catch (Exception e) {
            throw new IOException(e);
        }
        id.destroyId();
        memory.close();
    }
}
