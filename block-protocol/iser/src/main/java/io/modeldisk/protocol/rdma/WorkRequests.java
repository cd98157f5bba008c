package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import java.util.LinkedList;
import java.util.List;

/** Creates DiSNI's work requests, which are prepared once and posted many times. */
public final class WorkRequests {
    /**
     * The opcode of a send that also invalidates a memory key of the peer. DiSNI has no constant for this opcode. The field that
     * holds the remote key of an RDMA request holds the memory key. Allowed only if {@link ConnectionDetails#canInvalidate}
     * returns true.
     */
    public static final int SEND_WITH_INVALIDATE = 9;

    private WorkRequests() {}

    /** Creates a request for a SEND, an RDMA READ or an RDMA WRITE. The addresses of the request are set before each use. */
    public static IbvSendWR send(int opcode, int flags, int parts) {
        IbvSendWR request = new IbvSendWR();
        request.setOpcode(opcode);
        request.setSend_flags(flags);
        LinkedList<IbvSge> list = new LinkedList<>();
        for (int i = 0; i < parts; i++) {
            list.add(new IbvSge());
        }
        request.setSg_list(list);
        return request;
    }

    static IbvRecvWR receive(Work work, long address, int bytes, int localKey) {
        IbvSge part = new IbvSge();
        part.setAddr(address);
        part.setLength(bytes);
        part.setLkey(localKey);
        IbvRecvWR request = new IbvRecvWR();
        request.setWr_id(work.id());
        request.setSg_list(new LinkedList<>(List.of(part)));
        return request;
    }
}
