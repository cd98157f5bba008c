package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Formula;
import io.modeldisk.aggregator.LearningRate;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * The kernels of one aggregator on a device, and a fixed number of batches. A batch applies many gradients with one launch. After
 * the constructor, no Java object is allocated. Closing the device frees the kernels and the batches. Thread-safe.
 *
 * <p>The results equal the results of the CPU's aggregator bit for bit, except for the payload of a NaN. Only a host processor
 * without fused multiply-add gets different results, because it rounds the product and the sum separately.
 */
public final class FoldKernels {
    /** The maximum number of ranges in a batch, which is a CUDA limit for a launch. */
    public static final int MAX_FOLDS = 65535;

    /** The maximum number of thread groups in a launch, unless it has more ranges. A group can compute several logical blocks. */
    private static final int MAX_GROUPS = 16384;

    private final Formula formula;
    private final LearningRate learningRate;
    private final int stateArrays;
    private final ArrayBlockingQueue<Batch> free;

    /** The work of a batch. */
    public enum Work {
        /** Gradients are applied to weights. */
        FOLD,
        /** Gradients are added to the sums of rounds. */
        ACCUMULATE
    }

    /**
     * Loads the kernels of an aggregator. The aggregator must stay open while its kernels are used, because they use its learning
     * rate.
     *
     * @param foldsPerBatch the maximum number of ranges in a batch, from 1 to {@value #MAX_FOLDS}
     * @param batches the number of batches, at least 1
     * @throws IllegalArgumentException if the aggregator is not available on a GPU, or if a number is out of range
     * @throws CudaException if a call to the driver failed, for example because the driver refuses the PTX
     */
    public FoldKernels(CudaDevice device, Aggregator aggregator, int foldsPerBatch, int batches) {
        this(device, aggregator, foldsPerBatch, batches, MAX_GROUPS);
    }

    FoldKernels(CudaDevice device, Aggregator aggregator, int foldsPerBatch, int batches, int maxGroups) {
        if (foldsPerBatch < 1 || foldsPerBatch > MAX_FOLDS) {
            throw new IllegalArgumentException("foldsPerBatch=" + foldsPerBatch + " must be from 1 to " + MAX_FOLDS);
        }
        if (batches < 1) {
            throw new IllegalArgumentException("batches=" + batches + " must be at least 1");
        }
        this.formula = aggregator.formula();
        this.learningRate = aggregator.learningRate();
        this.free = new ArrayBlockingQueue<>(batches);
        KernelCall call = KernelCall.of(formula);
        this.stateArrays = call == null ? 0 : call.stateArrays();
        createBatches(device, call, foldsPerBatch, batches, maxGroups);
    }

    private void createBatches(CudaDevice device, KernelCall call, int foldsPerBatch, int batches, int maxGroups) {
        KernelCall norm = KernelCall.ofNorm(formula);
        Kernel normKernel = norm == null ? null : Kernel.load(device, norm);
        Kernel[] kernels = new Kernel[Work.values().length];
        kernels[Work.FOLD.ordinal()] = call == null ? null : Kernel.load(device, call);
        kernels[Work.ACCUMULATE.ordinal()] = Kernel.load(device, KernelCall.ACCUMULATE);
        long bytes = deviceBytes(foldsPerBatch, 1);
        DeviceMemory descriptors = device.allocate(batches * bytes);
        PinnedMemory staging = device.allocatePinned(batches * bytes);
        for (int i = 0; i < batches; i++) {
            CudaEvent done = device.newEvent();
            free.add(
                new Batch(this, kernels, normKernel, staging.slice(i * bytes, bytes),
                    descriptors.slice(i * bytes, bytes), done,
                    maxGroups));
        }
    }

    /**
     * Returns the number of state arrays that an aggregator needs for a block.
     *
     * @throws IllegalArgumentException if the aggregator or one of its options is not available on a GPU
     */
    static int stateArrays(Aggregator aggregator) {
        KernelCall call = KernelCall.of(aggregator.formula());
        return call == null ? 0 : call.stateArrays();
    }

    /** Returns the size in bytes of the device memory that batches need for their descriptors. */
    static long deviceBytes(int foldsPerBatch, int batches) {
        return (long) batches * foldsPerBatch * FoldDescriptor.BYTES;
    }

    /** Returns the number of state arrays of a block, each as long as the weights: 0 to 2. */
    public int stateArrays() {
        return stateArrays;
    }

    /** Returns whether the aggregator counts the updates of each logical block. */
    public boolean countsUpdates() {
        return formula instanceof Formula.Adam;
    }

    Formula formula() {
        return formula;
    }

    LearningRate learningRate() {
        return learningRate;
    }

    /** Returns an empty batch, which one thread fills and launches, or null if no batch is free. */
    public Batch tryBegin(Work work) {
        Batch batch = free.poll();
        if (batch != null) {
            batch.begin(work);
        }
        return batch;
    }

    void free(Batch batch) {
        free.add(batch);
    }
}
