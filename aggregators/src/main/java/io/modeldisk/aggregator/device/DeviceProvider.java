package io.modeldisk.aggregator.device;

/** Opens devices of one kind, such as {@code cuda}. {@link java.util.ServiceLoader} finds all providers. */
public interface DeviceProvider {
    /** Returns the name of the kind, as in {@code cuda:0}. */
    String kind();

    /**
     * Checks that a device can be used.
     *
     * @param number the number of the device, from 0
     * @throws IllegalArgumentException if there is no such device, or if it cannot be used; the message has one line
     */
    void check(int number);

    /** Returns the host memory, in bytes, that a device needs for data on its way, with blocks of this size. */
    long hostBytes(int blockSizeBytes);

    /**
     * Allocates the memory of a shard on a device. The content of the device's memory is undefined at first.
     *
     * @param number the number of the device, from 0
     * @throws IllegalArgumentException if the device cannot be used, cannot compute the aggregator, or has too little memory
     * @throws DeviceException if the device has failed; nothing stays allocated then
     */
    DeviceBlocks open(int number, DeviceShape shape);
}
