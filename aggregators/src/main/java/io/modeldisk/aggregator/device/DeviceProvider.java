package io.modeldisk.aggregator.device;

/** Opens devices of one kind, such as {@code cuda}. {@link java.util.ServiceLoader} finds all providers. */
public interface DeviceProvider {
    /** Returns the name of the kind: {@code cuda} for the device {@code cuda:0}. */
    String kind();

    /**
     * Checks that a device can be used.
     *
     * @param number the number of the device, from 0
     * @throws IllegalArgumentException if there is no such device, or if it cannot be used; the message is one line
     */
    void check(int number);

    /** Returns the size in bytes of the host memory for data on the way to or from a device, if blocks have this size. */
    long hostBytes(int blockSizeBytes);

    /**
     * Opens a device, and allocates the memory of a shard there. The content of this memory is undefined at first.
     *
     * @param number the number of the device, from 0
     * @throws IllegalArgumentException if the device cannot be used, cannot compute the aggregator, or has too little memory
     * @throws DeviceException if the device failed; in this case, nothing stays allocated
     */
    DeviceBlocks open(int number, DeviceShape shape);
}
