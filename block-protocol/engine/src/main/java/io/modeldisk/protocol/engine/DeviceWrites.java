package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * Memory of a device, for example a GPU, that receives the data of writes. A datamover puts the data into this memory, and the
 * device reads the data later. Thread-safe.
 */
public interface DeviceWrites {
    /** Returns the memory. Its addresses are addresses of the device, which the host cannot access. */
    DataMemory memory();

    /** Notifies the target that datamovers can access the memory. {@code way} is the way of access, such as {@code dma-buf}. */
    void registered(String way);

    /**
     * Notifies the target that no datamover can access the memory, so the engine does not use the memory.
     *
     * @throws IOException if the target cannot work without this memory; the message contains the reason
     */
    void refused(String reason) throws IOException;

    /** Returns the number of the newest operation that was submitted to the device. The numbers of operations ascend. */
    long newestOperation();

    /** Returns the number of the newest completed operation: the device has read its data and the data of all earlier ones. */
    long lastDoneOperation();
}
