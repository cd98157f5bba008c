package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvMr;

/**
 * The rights of peers to registered memory. In iSER, only the target issues RDMA READs and WRITEs (RFC 7145), so only the memory
 * of an initiator needs remote rights.
 */
public enum MemoryRights {
    /**
     * Only requests of this process may access the memory. On InfiniBand and RoCE, RDMA READs of this process can store their
     * data in such memory.
     */
    LOCAL(IbvMr.IBV_ACCESS_LOCAL_WRITE),
    /**
     * RDMA READs and WRITEs of a peer may also access the memory, if the connection with this peer is in the protection domain of
     * the memory and the peer uses the remote key.
     */
    REMOTE(IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ | IbvMr.IBV_ACCESS_REMOTE_WRITE);

    private final int accessFlags;

    MemoryRights(int accessFlags) {
        this.accessFlags = accessFlags;
    }

    /** Returns the flags for {@code ibv_reg_mr}. */
    int accessFlags() {
        return accessFlags;
    }
}
