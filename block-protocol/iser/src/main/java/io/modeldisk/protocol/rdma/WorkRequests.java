package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import java.util.LinkedList;
import java.util.List;

/** Makes work requests as DiSNI wants them, once, to be prepared and used again and again. */
public final class WorkRequests {
    /**
     * A message that also invalidates a key of the other side's, which is patched in as the key of an RDMA request is. DiSNI has
     * no name for it; only where {@link ConnectionDetails#canInvalidate} says so.
     */
    public static final int SEND_WITH_INVALIDATE = 9;

    private WorkRequests() {}

    /** A request to send, or to READ or WRITE, without its addresses, which are patched before each use. */
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
