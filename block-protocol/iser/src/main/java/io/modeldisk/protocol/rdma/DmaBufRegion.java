package io.modeldisk.protocol.rdma;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.impl.NatIbvMr;
import com.ibm.disni.verbs.impl.NatObject;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A memory region over a dma-buf, which is memory of another device, such as a GPU. DiSNI cannot register such memory, so this
 * class calls a function that the libdisni of modeldisk exports.
 */
final class DmaBufRegion extends NatIbvMr {
    private static final int MESSAGE_BYTES = 256;

    @SuppressWarnings("restricted")
    private static final MethodHandle REGISTER = Linker.nativeLinker().downcallHandle(
        RdmaLibrary.symbols().findOrThrow("modeldisk_rdma_register_dma_buf"), FunctionDescriptor.of(JAVA_LONG,
            JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));

    private DmaBufRegion(long region, IbvPd domain, long address, int bytes, int accessFlags, int[] keys)
        throws IOException {
        super(region, domain.getContext(), address, bytes, accessFlags, keys[0], keys[1], keys[2]);
    }

    /**
     * Registers a dma-buf.
     *
     * @param address the address of the first byte of the dma-buf in work requests
     * @param accessFlags the flags of {@code ibv_reg_mr}
     * @throws IOException if the kernel or the RDMA device refuses the dma-buf; the message states the reason
     */
    static DmaBufRegion register(IbvPd domain, int dmaBuf, long address, int bytes, int accessFlags)
        throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keys = arena.allocate(JAVA_INT, 3);
            MemorySegment message = arena.allocate(MESSAGE_BYTES);
            long region = (long) REGISTER.invokeExact(((NatObject) domain).getObjId(), dmaBuf, address, bytes,
                accessFlags, keys, message, MESSAGE_BYTES);
            if (region == 0) {
                throw new IOException(message.getString(0));
            }
            return new DmaBufRegion(region, domain, address, bytes, accessFlags, keys.toArray(JAVA_INT));
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a call to libdisni failed", e);
        }
    }
}
