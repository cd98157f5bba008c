package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvMr;

/**
 * Who may use registered memory through a device. In iSER the target issues every RDMA READ and WRITE (RFC 7145):
 * only the data of an initiator's tasks needs remote rights, and nothing of a target does.
 */
public enum MemoryRights {
    /** Only requests that this process posts. On InfiniBand and RoCE the sink of an RDMA READ needs no more. */
    LOCAL(IbvMr.IBV_ACCESS_LOCAL_WRITE),
    /** Also RDMA READs and WRITEs of every peer in the same protection domain that knows the key. */
    REMOTE(IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ | IbvMr.IBV_ACCESS_REMOTE_WRITE);

    private final int accessFlags;

    MemoryRights(int accessFlags) {
        this.accessFlags = accessFlags;
    }

    /** The flags of {@code ibv_reg_mr}. */
    int accessFlags() {
        return accessFlags;
    }
}
