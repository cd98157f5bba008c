package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * Memory of a device for the data of writes. A datamover puts data there, and the device reads it later. Thread-safe.
 */
public interface DeviceWrites {
    /** Returns the memory, which has the addresses of the device. */
    DataMemory memory();

    /** Notifies the target that datamovers reach the memory, and how, such as {@code dma-buf}. */
    void registered(String way);

    /**
     * Notifies the target that no datamover reaches the memory, so the engine does not use it.
     *
     * @throws IOException if the target insists on this memory; the message has the reason
     */
    void refused(String reason) throws IOException;

    /** Returns the number of the newest operation of the device. Numbers ascend. */
    long newestOperation();

    /** Returns the number up to which the device has read the data of all operations. */
    long lastDoneOperation();
}
