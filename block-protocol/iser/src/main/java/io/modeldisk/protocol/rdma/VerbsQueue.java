package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.StatefulVerbCall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** The verbs objects of a {@link QueuePair}, created and released together. The {@link QueuePair} synchronizes all calls. */
final class VerbsQueue {
    private static final Logger LOG = LogManager.getLogger(VerbsQueue.class);

    private final RdmaCmId id;
    private final IbvQP pair;
    private final CompletionQueue completions;
    private final int inlineBytes;
    private final List<StatefulVerbCall<?>> prepared = new ArrayList<>();
    private final List<QueuePair.Release> releases = new ArrayList<>();

    /** Creates the verbs objects. If the constructor fails, the caller still owns the identifier. */
    VerbsQueue(RdmaDomain domain, RdmaCmId id, int sendRequests, int receives) throws IOException {
        this.id = id;
        completions = new CompletionQueue(id.getVerbs(), sendRequests + receives, domain.nextCompletionVector());
        try {
            int inline = QueuePair.INLINE_BYTES;
            IbvQP made;
            try {
                made = create(domain, sendRequests, receives, inline);
            } catch (IOException e) {
                LOG.debug("the device refuses inline data: {}", e.getMessage());
                inline = 0;
                made = create(domain, sendRequests, receives, inline);
            }
            pair = made;
            inlineBytes = inline;
        } catch (IOException e) {
            completions.destroy();
            throw e;
        }
    }

    private IbvQP create(RdmaDomain domain, int sendRequests, int receives, int inline) throws IOException {
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(completions.queue());
        attributes.setRecv_cq(completions.queue());
        attributes.cap().setMax_send_wr(sendRequests);
        attributes.cap().setMax_recv_wr(receives);
        attributes.cap().setMax_inline_data(inline);
        return id.createQP(domain.domain(), attributes);
    }

    CompletionQueue completions() {
        return completions;
    }

    int inlineBytes() {
        return inlineBytes;
    }

    SVCPostSend prepare(IbvSendWR... chain) throws IOException {
        SVCPostSend call = pair.postSend(List.of(chain), null);
        prepared.add(call);
        return call;
    }

    SVCPostRecv prepareReceive(Work work, long address, int bytes, int localKey) throws IOException {
        SVCPostRecv call = pair.postRecv(List.of(WorkRequests.receive(work, address, bytes, localKey)), null);
        prepared.add(call);
        return call;
    }

    void releaseAtEnd(QueuePair.Release release) {
        releases.addFirst(release);
    }

    /** Closes the connection. The device then flushes all requests. */
    void disconnect() throws IOException {
        id.disconnect();
    }

    /** Releases all verbs objects. No thread may use them any more. */
    void release() throws IOException {
        id.destroyQP();
        prepared.forEach(StatefulVerbCall::free);
        completions.destroy();
        id.destroyId();
        for (QueuePair.Release release : releases) {
            release.release();
        }
    }
}
