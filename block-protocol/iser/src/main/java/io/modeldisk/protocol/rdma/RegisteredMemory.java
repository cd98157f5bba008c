package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/** A {@link DataMemory} that a device knows: a region for each slab, with the keys that requests name it by. Thread-safe. */
public final class RegisteredMemory {
    private static final int ACCESS = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ
        | IbvMr.IBV_ACCESS_REMOTE_WRITE;

    private final DataMemory memory;
    private final IbvMr[] regions;
    private int users;

    RegisteredMemory(IbvPd domain, DataMemory memory) throws IOException {
        this.memory = memory;
        this.regions = new IbvMr[memory.slabCount()];
        try {
            for (int i = 0; i < regions.length; i++) {
                long start = (long) i * DataMemory.SLAB_BYTES;
                int bytes = memory.bytesLeftInSlab(start);
                regions[i] = domain.regMr(memory.address(start), bytes, ACCESS).execute().free().getMr();
            }
        } catch (IOException e) {
            release();
            throw new IOException("memory of " + memory.bytes() + " bytes cannot be registered with the RDMA device: "
                + e.getMessage(), e);
        }
    }

    /** Whether this is the registration of {@code other}. */
    public boolean isOf(DataMemory other) {
        return memory == other;
    }

    /** Whether the memory is still there. */
    public boolean isOpen() {
        return memory.isOpen();
    }

    /** What this side's requests name the byte at {@code offset} by. */
    public int localKey(long offset) {
        return regions[DataMemory.slabIndex(offset)].getLkey();
    }

    /** The steering tag: what the other side's requests name the byte at {@code offset} by. */
    public int remoteKey(long offset) {
        return regions[DataMemory.slabIndex(offset)].getRkey();
    }

    /** The address of the byte at {@code offset}, which is also its tagged offset. */
    public long address(long offset) {
        return memory.address(offset);
    }

    /** One more uses it. The domain's lock is held. */
    void use() {
        users++;
    }

    /** One uses it no more; answers whether it was the last. The domain's lock is held. */
    boolean unuse() {
        return --users == 0;
    }

    void release() throws IOException {
        for (int i = 0; i < regions.length; i++) {
            if (regions[i] != null) {
                regions[i].deregMr().execute().free();
                regions[i] = null;
            }
        }
    }
}
