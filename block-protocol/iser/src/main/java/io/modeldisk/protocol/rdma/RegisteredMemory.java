package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvMr;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/** A {@link DataMemory} that is registered with a device: a memory region for each slab, with its keys. Thread-safe. */
public final class RegisteredMemory {
    /** Registers one range of memory with a device. */
    @FunctionalInterface
    interface Registrar {
        /** Registers a range with the flags of {@code ibv_reg_mr}. */
        IbvMr register(long address, int bytes, int accessFlags) throws IOException;
    }

    private final DataMemory memory;
    private final MemoryRights rights;
    private final IbvMr[] regions;
    private int users;

    RegisteredMemory(Registrar registrar, DataMemory memory, MemoryRights rights) throws IOException {
        this.memory = memory;
        this.rights = rights;
        this.regions = new IbvMr[memory.slabCount()];
        try {
            for (int i = 0; i < regions.length; i++) {
                long start = (long) i * DataMemory.SLAB_BYTES;
                int bytes = memory.bytesLeftInSlab(start);
                regions[i] = registrar.register(memory.address(start), bytes, rights.accessFlags());
            }
        } catch (IOException e) {
            release();
            throw new IOException("memory of " + memory.bytes() + " bytes cannot be registered with the RDMA device: "
                + e.getMessage(), e);
        }
    }

    /** Whether this is a registration of {@code other}. */
    public boolean isOf(DataMemory other) {
        return memory == other;
    }

    /** Whether this is the registration of {@code other} with exactly these rights. */
    boolean isOf(DataMemory other, MemoryRights otherRights) {
        return memory == other && rights == otherRights;
    }

    /** Whether the memory has not been closed. */
    public boolean isOpen() {
        return memory.isOpen();
    }

    /** The key of the byte at {@code offset} in requests that this process posts. */
    public int localKey(long offset) {
        return regions[DataMemory.slabIndex(offset)].getLkey();
    }

    /** The steering tag: the key of the byte at {@code offset} in requests of the peer. Of no use with local rights alone. */
    public int remoteKey(long offset) {
        return regions[DataMemory.slabIndex(offset)].getRkey();
    }

    /** The address of the byte at {@code offset}, which is also its tagged offset. */
    public long address(long offset) {
        return memory.address(offset);
    }

    /** Adds a user. The domain's lock is held. */
    void use() {
        users++;
    }

    /** Removes a user; true if it was the last. The domain's lock is held. */
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
