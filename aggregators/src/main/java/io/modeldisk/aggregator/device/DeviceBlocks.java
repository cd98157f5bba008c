package io.modeldisk.aggregator.device;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * The blocks of a shard on a device: weights, state of the aggregator and, if the shard needs them, sums of gradients.
 *
 * <p><b>Tickets.</b> A method that returns a ticket puts an operation into a queue and returns at once. Tickets ascend. The
 * device does the operations of a block in the order of their tickets. Data in host memory is copied before the method returns.
 * A gradient in the {@linkplain #pushMemory memory for pushes} is not copied, and must not change until the operation is
 * applied. If the queue is full, the method waits until the device has done earlier operations. A device that takes too long for
 * its work has failed, so no method waits longer.
 *
 * <p><b>Progress.</b> An operation is applied when the device has changed weights, state and sums. It is done when the host
 * memory that it changes, if any, has its data too.
 *
 * <p>Thread-safe, but the caller orders the calls for one block, and does not close the device during another call. After a
 * failure, every method except {@link #close} throws a {@link DeviceException}. Offsets and lengths are in bytes, are multiples
 * of 4096, and lie in the block. Nothing is allocated on the data path.
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
     * @param first whether the gradient replaces the earlier sum
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
     * @param mirrorOffset where the copy begins in the {@linkplain DeviceShape#mirrors host memory}; the start of a block there
     * @return the ticket
     */
    long mirror(int block, long mirrorOffset);

    /**
     * Replaces the weights of a block, and its state by that in {@link DeviceShape#state}. No operation of the block may be
     * under way.
     */
    void store(int block, MemorySegment weights);

    /** Copies the state of a block to {@link DeviceShape#state}, and waits until this is done. */
    void loadState(int block);

    /** Replaces the sum of a block. Waits until all earlier operations are done. */
    void storeSum(int block, MemorySegment from, long fromOffset);

    /** Copies the sum of a block to {@code to}, and waits until this is done. */
    void loadSum(int block, MemorySegment to, long toOffset);

    /** Returns the memory into which RDMA devices put gradients; null if there is none. */
    PushMemory pushMemory();

    /** Frees the memory for pushes. To be called before the first operation. */
    void freePushMemory();

    /** Returns the newest ticket; 0 before the first operation. */
    long newest();

    /** Returns the ticket up to which all operations are applied. */
    long applied();

    /** Returns the failure of the device; null if it has not failed. */
    DeviceException failure();

    /** Throws a {@link DeviceException} if the device has failed. */
    void check();

    /** Waits until all operations up to a ticket are done. */
    void awaitDone(long ticket);

    /**
     * Sets what is called when the device advances or fails. To be called before the first operation.
     *
     * @param progress is called after {@link #applied} has advanced, and after a failure. It must not wait
     * @param lost is called once, before a failure is visible to other calls. It must not close the device
     */
    void listen(Runnable progress, Consumer<DeviceException> lost);

    /** Returns the memory of the device that is in use, in bytes. */
    long deviceBytes();

    /** Returns the name of the device, such as {@code cuda:0 (NVIDIA H100 PCIe)}. */
    @Override
    String toString();

    /**
     * Frees the memory of the device. No operation may be under way, except after a failure.
     *
     * @throws DeviceException if this has failed, or if the device still works; it may then still use the host memory
     */
    @Override
    void close();
}
