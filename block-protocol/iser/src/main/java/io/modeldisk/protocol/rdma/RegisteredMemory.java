package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvMr;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/** A {@link DataMemory} that is registered with a device. Each slab has a memory region with its own keys. Thread-safe. */
public final class RegisteredMemory {
    /** Registers one range of memory with a device. */
    @FunctionalInterface
    interface Registrar {
        /** Registers a range. {@code accessFlags} are the flags of {@code ibv_reg_mr}. */
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

    /** Returns whether {@code other} is the registered memory. */
    public boolean isOf(DataMemory other) {
        return memory == other;
    }

    /** Returns whether {@code other} is the registered memory, and is registered with exactly these rights. */
    boolean isOf(DataMemory other, MemoryRights otherRights) {
        return memory == other && rights == otherRights;
    }

    /** Returns how the device reaches the memory: {@code dma-buf}, {@code peer memory}, or {@code host memory}. */
    public String way() {
        return memory.device() == null
            ? "host memory"
            : regions[0] instanceof DmaBufRegion ? "dma-buf" : "peer memory";
    }

    /** Returns whether the memory is still open. */
    public boolean isOpen() {
        return memory.isOpen();
    }

    /** Returns the local memory key for the byte at {@code offset}. Requests that this process posts use the local key. */
    public int localKey(long offset) {
        return regions[DataMemory.slabIndex(offset)].getLkey();
    }

    /**
     * Returns the steering tag for the byte at {@code offset}, which is the remote memory key. Requests of a peer use the remote
     * key, and succeed only if the memory has remote rights.
     */
    public int remoteKey(long offset) {
        return regions[DataMemory.slabIndex(offset)].getRkey();
    }

    /** Returns the address of the byte at {@code offset}. The address is also the tagged offset of the byte. */
    public long address(long offset) {
        return memory.address(offset);
    }

    /** Adds a user of the registration. The caller holds the monitor of the domain. */
    void use() {
        users++;
    }

    /** Removes a user of the registration. Returns whether no user is left. The caller holds the monitor of the domain. */
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
