package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatObject;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Calls to the RDMA connection manager that DiSNI lacks: reading the status and private data of an event, reading the name and
 * features of a device, and accepting a connection with private data. The libdisni of modeldisk exports their functions.
 *
 * <p>Thread-safe, except that only one thread at a time may read an event channel.
 */
public final class ConnectionDetails {
    /** The maximum number of bytes of private data in an event. */
    private static final int MAX_PRIVATE_DATA_BYTES = 255;
    private static final int MAX_NAME_BYTES = 64;

    private static final MethodHandle LAST_EVENT = handle("modeldisk_rdma_last_event", FunctionDescriptor.of(
        ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    private static final MethodHandle ACCEPT = handle("modeldisk_rdma_accept", FunctionDescriptor.of(
        ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
        ValueLayout.JAVA_INT));
    private static final MethodHandle DEVICE_NAME = handle("modeldisk_rdma_device_name", FunctionDescriptor.ofVoid(
        ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
    private static final MethodHandle CAN_INVALIDATE = handle("modeldisk_rdma_can_invalidate", FunctionDescriptor.of(
        ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));

    private ConnectionDetails() {}

    /** The private data of an event, and its status: a negative error number, or the peer's reason for the rejection. */
    public record Event(int status, byte[] privateData) {}

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(RdmaLibrary.symbols().findOrThrow(name), type);
    }

    private static long handleOf(Object disniObject) {
        return ((NatObject) disniObject).getObjId();
    }

    /** Returns the details of the last event of a channel. Only the thread that reads the channel may call this method. */
    public static Event lastEvent(RdmaEventChannel channel) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment data = arena
                .allocate(MemoryLayout.sequenceLayout(MAX_PRIVATE_DATA_BYTES, ValueLayout.JAVA_BYTE));
            int bytes = (int) LAST_EVENT.invokeExact(handleOf(channel), status, data);
            return new Event(status.get(ValueLayout.JAVA_INT, 0),
                data.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Accepts a connection. */
    public static void accept(RdmaCmId id, RdmaConnParam parameters, byte[] privateData) throws IOException {
        int error;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData);
            error = (int) ACCEPT.invokeExact(handleOf(id), data, privateData.length,
                (int) parameters.getRetry_count(), (int) parameters.getRnr_retry_count());
        } catch (Throwable e) {
            throw unexpected(e);
        }
        if (error != 0) {
            throw new IOException("rdma_accept failed with errno " + error);
        }
    }

    /** Returns whether the device of an identifier supports {@link WorkRequests#SEND_WITH_INVALIDATE}. */
    public static boolean canInvalidate(RdmaCmId id) {
        try {
            return (int) CAN_INVALIDATE.invokeExact(handleOf(id)) != 0;
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the name of the device that an identifier uses. The name is empty if the identifier has no device. */
    public static String deviceName(RdmaCmId id) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(MAX_NAME_BYTES);
            DEVICE_NAME.invokeExact(handleOf(id), name, MAX_NAME_BYTES);
            return name.getString(0);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static IllegalStateException unexpected(Throwable e) {
        return new IllegalStateException("a call to libdisni failed", e);
    }
}
