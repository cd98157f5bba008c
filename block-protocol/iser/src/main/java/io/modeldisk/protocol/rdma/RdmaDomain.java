package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The protection domain of a device, and the registrations of memory in this domain. All connections of the domain share the
 * registrations, so the same memory with the same rights is registered only once. Thread-safe.
 */
public final class RdmaDomain {
    private final IbvPd domain;
    private final int completionVectors;
    private final List<RegisteredMemory> registered = new ArrayList<>();
    private final long device;
    private int nextVector;
    /** Guarded by the monitor of {@link RdmaDomains}. */
    private int users;

    RdmaDomain(RdmaCmId id, long device) throws IOException {
        this.device = device;
        this.completionVectors = Math.max(1, id.getVerbs().getNumCompVectors());
        this.domain = id.getVerbs().allocPd();
    }

    IbvPd domain() {
        return domain;
    }

    long device() {
        return device;
    }

    void use() {
        users++;
    }

    /** Removes a user of the domain. Returns whether the domain has no user left. */
    boolean unuse() {
        return --users == 0;
    }

    /** Returns the completion vector (device interrupt) of the next completion queue. Each call returns the next vector. */
    synchronized int nextCompletionVector() {
        nextVector = (nextVector + 1) % completionVectors;
        return nextVector;
    }

    /**
     * Returns the registration of memory with these rights. All callers share the registration. A caller that no longer needs
     * the registration calls {@link #release}. The first call for each memory is slow, and must not happen on the data path.
     *
     * @throws IOException if the device refuses the registration; the message states the reason
     */
    public synchronized RegisteredMemory register(DataMemory memory, MemoryRights rights) throws IOException {
        for (RegisteredMemory known : registered) {
            if (known.isOf(memory, rights)) {
                known.use();
                return known;
            }
        }
        RegisteredMemory fresh = new RegisteredMemory(memory.device() == null
            ? this::registerRange
            : (address, bytes, flags) -> registerOnDevice(memory.device(), address, bytes, flags), memory, rights);
        fresh.use();
        registered.add(fresh);
        return fresh;
    }

    private IbvMr registerRange(long address, int bytes, int accessFlags) throws IOException {
        return domain.regMr(address, bytes, accessFlags).execute().free().getMr();
    }

    /**
     * Registers memory of another device: as a dma-buf if possible, and otherwise by its address. The kernel accepts such an
     * address if the driver of the other device has a module for peer memory.
     */
    private IbvMr registerOnDevice(DataMemory.OnDevice device, long address, int bytes, int accessFlags)
        throws IOException {
        String noDmaBuf = device.noDmaBuf();
        if (noDmaBuf == null) {
            try {
                return DmaBufRegion.register(domain, device.dmaBuf(), address, bytes, accessFlags);
            } catch (IOException e) {
                noDmaBuf = e.getMessage();
            }
        }
        try {
            return registerRange(address, bytes, accessFlags);
        } catch (IOException e) {
            throw new IOException(
                "registration as a dma-buf failed: " + noDmaBuf + "; registration as peer memory, which needs the"
                    + " kernel module nvidia_peermem, failed: " + e.getMessage(),
                e);
        }
    }

    /** Removes a user of a registration. Deregisters the memory if no user is left. */
    public synchronized void release(RegisteredMemory memory) throws IOException {
        if (memory.unuse()) {
            registered.remove(memory);
            memory.release();
        }
    }

    synchronized void close() throws IOException {
        for (RegisteredMemory memory : registered) {
            memory.release();
        }
        registered.clear();
        try {
            domain.deallocPd();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}
