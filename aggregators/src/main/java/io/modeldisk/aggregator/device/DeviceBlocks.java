package io.modeldisk.aggregator.device;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * The blocks of a shard on a device: weights, the aggregator's state and, if the shard needs them, sums of gradients.
 *
 * <p><b>Tickets.</b> A method that returns a ticket puts an operation into a queue and returns at once. Each ticket is greater
 * than all earlier tickets. The device performs the operations on a block in the order of their tickets. Data in host memory is
 * copied before the method returns. A gradient in the {@linkplain #pushMemory memory for pushes} is not copied, and must not
 * change until the operation is applied. If the queue is full, the method waits until the device has performed earlier
 * operations. A device that makes no progress for too long counts as failed, which ends every wait.
 *
 * <p><b>Progress.</b> An operation is applied when the device has made its changes to weights, state and sums. An operation is
 * done when its data has also arrived in host memory, if it copies data to the host.
 *
 * <p>Thread-safe, but the caller must order the calls for one block, and must not close the device during another call. After a
 * failure, every method except {@link #close} throws a {@link DeviceException}. Offsets and lengths are in bytes, must be
 * multiples of 4096, and must be within the block. Nothing is allocated on the data path.
 */
public interface DeviceBlocks extends AutoCloseable {
    /**
     * Applies {@code scale} times a gradient to weights, as {@link io.modeldisk.aggregator.Aggregator#aggregate} does.
     *
     * @param gradient host memory, or the segment of {@link #pushMemory}
     * @param lengthBytes the length of the weights; the length of the gradient depends on its type
     * @param round the round to which the gradient belongs, from 1
     * @return the ticket
     */
    long fold(
        int block, long round, long offset, MemorySegment gradient, long gradientOffset, GradientType type,
        int lengthBytes, float scale);

    /**
     * Adds a gradient to the sum of its block.
     *
     * @param gradient host memory, or the segment of {@link #pushMemory}
     * @param lengthBytes the length of the sum's range
     * @param first whether the gradient replaces the old sum, because it is the first gradient of a round
     * @return the ticket
     */
    long accumulate(
        int block, long offset, MemorySegment gradient, long gradientOffset, GradientType type, int lengthBytes,
        boolean first);

    /** Applies {@code scale} times the sum of a block to its weights. Returns the ticket. */
    long foldSum(int block, long round, long offset, int lengthBytes, float scale);

    /**
     * Copies the weights of a block to the host.
     *
     * @param mirrorOffset the offset of the copy in {@link DeviceShape#mirrors}; a multiple of the block size
     * @return the ticket
     */
    long mirror(int block, long mirrorOffset);

    /**
     * Replaces the weights of a block with {@code weights}, and its state with the data in {@link DeviceShape#state}. No
     * operation on the block may be in progress.
     */
    void store(int block, MemorySegment weights);

    /** Copies the state of a block to {@link DeviceShape#state}, and waits until the copy is complete. */
    void loadState(int block);

    /** Replaces the sum of a block. The method first waits until all earlier operations are done. */
    void storeSum(int block, MemorySegment from, long fromOffset);

    /** Copies the sum of a block to {@code to}, and waits until the copy is complete. */
    void loadSum(int block, MemorySegment to, long toOffset);

    /** Returns the memory into which RDMA devices put gradients, or null if there is none. */
    PushMemory pushMemory();

    /** Frees the memory for pushes. This method must be called before the first operation, if at all. */
    void freePushMemory();

    /** Returns the newest ticket, or 0 before the first operation. */
    long newest();

    /** Returns the ticket up to which all operations are applied. */
    long applied();

    /** Returns the failure of the device, or null if the device has not failed. */
    DeviceException failure();

    /** Throws a {@link DeviceException} if the device has failed. */
    void check();

    /** Waits until all operations up to a ticket are done. */
    void awaitDone(long ticket);

    /**
     * Sets the listeners for progress and failure of the device. This method must be called before the first operation.
     *
     * @param progress called after {@link #applied} has advanced, and after a failure; must not block
     * @param lost called once, before a failure becomes visible to other calls; must not close the device
     */
    void listen(Runnable progress, Consumer<DeviceException> lost);

    /** Returns the size in bytes of the device memory that this shard uses. */
    long deviceBytes();

    /** Returns the name of the device, such as {@code cuda:0 (NVIDIA H100 PCIe)}. */
    @Override
    String toString();

    /**
     * Frees the memory of the device. No operation may be in progress, except after a failure.
     *
     * @throws DeviceException if the close fails or the work does not end in time; the device might still access host memory
     */
    @Override
    void close();
}
