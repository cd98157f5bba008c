package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Formula;
import io.modeldisk.aggregator.cuda.FoldKernels.Work;
import io.modeldisk.aggregator.device.GradientType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import jcuda.Pointer;

/**
 * The ranges of blocks that one kernel launch changes. The caller gets an empty batch from {@link FoldKernels#tryBegin}, adds
 * ranges, calls {@link #launch}, calls {@link #isComplete} until it returns true, and then calls {@link #release}. Only one
 * thread at a time may use a batch. No method allocates a Java object.
 *
 * <p>The GPU computes the ranges of a batch concurrently, so a batch refuses a range that overlaps one of its ranges. Batches
 * that change the same block must be launched in the order of their updates, in one stream or in streams ordered by events.
 *
 * <p>Offsets and lengths are in bytes. A length is the length of the float32 weights, even if the values of the gradient have 16
 * bits. Offsets in weights and lengths are multiples of 4096. An offset in a gradient is a multiple of 16.
 */
public final class Batch {
    private final FoldKernels kernels;
    private final Kernel[] byWork;
    private final Pointer[] parameters;
    private final Kernel norm;
    private final Pointer normParameters;
    private final PinnedMemory staging;
    private final MemorySegment folds;
    private final DeviceMemory descriptors;
    private final CudaEvent done;
    private final int maxGroups;
    private final boolean addsScaledGradient;
    private final Formula.Adam adam;
    /** The start addresses of the batch's ranges, in ascending order. {@code ends} has the end addresses in the same order. */
    private final long[] starts;
    private final long[] ends;

    private Work work;
    private int size;
    private long longestBytes;
    private boolean staged;
    private boolean launched;

    /** Creates a batch. {@code norm} is the kernel that limits the norm of gradients, or null if there is no limit. */
    Batch(
        FoldKernels kernels, Kernel[] byWork, Kernel norm, PinnedMemory staging, DeviceMemory descriptors,
        CudaEvent done, int maxGroups) {
        this.kernels = kernels;
        this.byWork = byWork;
        this.staging = staging;
        this.folds = staging.segment();
        this.descriptors = descriptors;
        this.done = done;
        this.maxGroups = maxGroups;
        this.addsScaledGradient = kernels.formula() instanceof Formula.Sgd sgd && sgd.rules().changeNothing();
        this.adam = kernels.formula() instanceof Formula.Adam formula ? formula : null;
        int capacity = (int) (descriptors.lengthBytes() / FoldDescriptor.BYTES);
        this.starts = new long[capacity];
        this.ends = new long[capacity];
        this.parameters = new Pointer[byWork.length];
        for (int i = 0; i < byWork.length; i++) {
            parameters[i] = byWork[i] == null ? null : byWork[i].parameters(descriptors.address());
        }
        this.norm = norm;
        this.normParameters = norm == null ? null : norm.parameters(descriptors.address());
    }

    void begin(Work nextWork) {
        work = nextWork;
        size = 0;
        longestBytes = 0;
        staged = false;
        launched = false;
    }

    /** Returns the number of ranges. With Adam, a call of {@link #fold} adds several ranges if the numbers of updates differ. */
    public int size() {
        return size;
    }

    /**
     * Adds a range, in which the batch applies a gradient to weights. The result equals that of the CPU's aggregator. A limit for
     * the norm applies to the gradient of this call. The update counters are incremented at once, so the caller must launch the
     * batch.
     *
     * @param lengthBytes the length of the range of weights
     * @param scale the factor of each gradient value: 1, or 1/n if the gradient is the sum of the gradients of n learners
     * @param round the round to which the gradient belongs, from 1
     * @return false, without any effect, if the batch is full or already changes a part of the range
     */
    public boolean fold(
        DeviceBlock block, long offset, DeviceMemory gradient, long gradientOffset, GradientType type,
        long lengthBytes, float scale, long round) {
        checkRange(Work.FOLD, block.weights(), offset, gradient, gradientOffset, type, lengthBytes);
        long blockBytes = block.weights().lengthBytes();
        long stateBytes = block.state() == null ? 0 : block.state().lengthBytes();
        if (stateBytes < kernels.stateArrays() * blockBytes || adam != null && block.updates() == null) {
            throw new IllegalArgumentException(
                "the state of the block has " + stateBytes + " bytes, but the aggregator needs "
                    + kernels.stateArrays() * blockBytes + " bytes"
                    + (adam == null ? "" : " and the update counters"));
        }
        long weights = block.weights().address() + offset;
        int needed = adam == null ? 1 : runs(block.updates(), offset, lengthBytes);
        if (needed > starts.length) {
            throw new IllegalArgumentException(
                "the range needs " + needed + " descriptors, but a batch has room for only " + starts.length);
        }
        if (!hasRoom(needed, weights, lengthBytes)) {
            return false;
        }
        float rate = kernels.learningRate() == null ? 0 : kernels.learningRate().at(round);
        long state = stateBytes == 0 ? 0 : block.state().address() + offset;
        long from = gradient.address() + gradientOffset;
        int first = size;
        if (adam != null) {
            foldRuns(block.updates(), offset, weights, from, type, state, blockBytes, lengthBytes, scale, rate);
        } else {
            add(weights, from, state, 0, lengthBytes, addsScaledGradient ? -rate * scale : scale, -rate, 0, 0);
        }
        FoldDescriptor.gradient(folds, first, size, type, lengthBytes);
        return true;
    }

    private static long count(MemorySegment updates, long offset) {
        return updates.get(ValueLayout.JAVA_LONG, offset / Aggregator.LOGICAL_BLOCK_BYTES * Long.BYTES);
    }

    /** Returns the end of the longest run of logical blocks from {@code offset} on that have equal numbers of updates. */
    private static long endOfRun(MemorySegment updates, long offset, long end) {
        long at = offset + Aggregator.LOGICAL_BLOCK_BYTES;
        while (at < end && count(updates, at) == count(updates, offset)) {
            at += Aggregator.LOGICAL_BLOCK_BYTES;
        }
        return at;
    }

    private static int runs(MemorySegment updates, long offset, long lengthBytes) {
        int runs = 0;
        for (long at = offset; at < offset + lengthBytes; at = endOfRun(updates, at, offset + lengthBytes)) {
            runs++;
        }
        return runs;
    }

    private void foldRuns(
        MemorySegment updates, long offset, long weights, long gradient, GradientType type, long state,
        long blockBytes, long lengthBytes, float scale, float rate) {
        long done = 0;
        while (done < lengthBytes) {
            long end = endOfRun(updates, offset + done, offset + lengthBytes) - offset;
            long count = count(updates, offset + done) + 1;
            for (long at = done; at < end; at += Aggregator.LOGICAL_BLOCK_BYTES) {
                updates.set(ValueLayout.JAVA_LONG, (offset + at) / Aggregator.LOGICAL_BLOCK_BYTES * Long.BYTES, count);
            }
            add(weights + done, gradient + type.gradientBytes(done), state + done, state + blockBytes + done,
                end - done, scale, -adam.rate(rate, count), adam.root(count), adam.shrink(rate));
            done = end;
        }
    }

    /**
     * Adds a range, in which the batch adds a gradient to the float32 sum of a round.
     *
     * @param lengthBytes the length of the sum's range
     * @param first whether the gradient is the first one of the round, which overwrites the sum of the previous round
     * @return false, without any effect, if the batch is full or already changes a part of the range
     */
    public boolean accumulate(
        DeviceMemory sum, long offset, DeviceMemory gradient, long gradientOffset, GradientType type,
        long lengthBytes, boolean first) {
        checkRange(Work.ACCUMULATE, sum, offset, gradient, gradientOffset, type, lengthBytes);
        long start = sum.address() + offset;
        if (!hasRoom(1, start, lengthBytes)) {
            return false;
        }
        FoldDescriptor.accumulation(folds, size, type, first);
        add(start, gradient.address() + gradientOffset, 0, 0, lengthBytes, 1, 0, 0, 0);
        return true;
    }

    private void checkRange(
        Work wanted, DeviceMemory changed, long offset, DeviceMemory gradient, long gradientOffset, GradientType type,
        long lengthBytes) {
        if (work != wanted || staged || launched) {
            throw new IllegalStateException(
                "a range for " + wanted + " cannot be added, because the batch is "
                    + (launched ? "launched" : staged ? "staged" : "for " + work));
        }
        Objects.checkFromIndexSize(offset, lengthBytes, changed.lengthBytes());
        Objects.checkFromIndexSize(gradientOffset, type.gradientBytes(lengthBytes), gradient.lengthBytes());
        if (lengthBytes == 0 || (offset | lengthBytes) % Aggregator.LOGICAL_BLOCK_BYTES != 0
            || (changed.address() | gradient.address() + gradientOffset) % FoldDescriptor.VECTOR_BYTES != 0) {
            throw new IllegalArgumentException(
                "offset=" + offset + " and lengthBytes=" + lengthBytes + " must be multiples of "
                    + Aggregator.LOGICAL_BLOCK_BYTES + ", and lengthBytes must be above 0; gradientOffset="
                    + gradientOffset + " and the addresses must be multiples of " + FoldDescriptor.VECTOR_BYTES);
        }
    }

    /** Returns whether the batch has room for {@code needed} more descriptors, and none of its ranges overlaps the new range. */
    private boolean hasRoom(int needed, long start, long lengthBytes) {
        int next = indexAfter(start);
        return size + needed <= starts.length && (next == 0 || ends[next - 1] <= start)
            && (next == size || starts[next] >= start + lengthBytes);
    }

    /** Returns the index of the first range, in ascending order of addresses, that begins after {@code start}. */
    private int indexAfter(long start) {
        int found = Arrays.binarySearch(starts, 0, size, start);
        return found < 0 ? -found - 1 : found + 1;
    }

    private void add(
        long weights, long gradient, long state, long squares, long lengthBytes, float factor, float negatedRate,
        float root,
        float shrink) {
        FoldDescriptor.range(folds, size, weights, gradient, state, squares, lengthBytes);
        FoldDescriptor.factors(folds, size, factor, negatedRate, root, shrink);
        int index = indexAfter(weights);
        System.arraycopy(starts, index, starts, index + 1, size - index);
        System.arraycopy(ends, index, ends, index + 1, size - index);
        starts[index] = weights;
        ends[index] = weights + lengthBytes;
        longestBytes = Math.max(longestBytes, lengthBytes);
        size++;
    }

    /**
     * Copies the descriptors of the ranges to the device. {@code stream} must not be the stream of {@link #launch}, because there
     * the copy would delay kernels. The caller must order the launch after this copy. After this call, no range can be added.
     */
    public void stage(CudaStream stream) {
        if (staged || launched) {
            throw new IllegalStateException("the batch is already " + (launched ? "launched" : "staged"));
        }
        staged = true;
        if (size > 0 && byWork[work.ordinal()] != null) {
            stream.copyToDevice(staging, descriptors, (long) size * FoldDescriptor.BYTES);
        }
    }

    /**
     * Adds the work of this batch to a stream, and returns at once. If {@link #stage} was not called, first copies the
     * descriptors in the same stream. The ranges must stay allocated until the batch is complete. A second launch is an error.
     *
     * @throws CudaException if a driver call failed; the batch might still change its ranges, so the device must be closed
     */
    public void launch(CudaStream stream) {
        if (launched) {
            throw new IllegalStateException("the batch is already launched, and can be launched only once");
        }
        if (!staged) {
            stage(stream);
        }
        launched = true;
        Kernel kernel = byWork[work.ordinal()];
        if (size > 0 && kernel != null) {
            if (norm != null && work == Work.FOLD) {
                norm.launch(stream, 1, size, normParameters);
            }
            long groups = Math.clamp(maxGroups / size, 1, longestBytes / Aggregator.LOGICAL_BLOCK_BYTES);
            kernel.launch(stream, (int) groups, size, parameters[work.ordinal()]);
        }
        stream.record(done);
    }

    /**
     * Returns true if this batch was launched and the device has completed its work.
     *
     * @throws CudaException if the work of this batch or earlier work of the device failed
     */
    public boolean isComplete() {
        return launched && done.isComplete();
    }

    /**
     * Returns the batch to its {@link FoldKernels}. The caller must not use the batch afterwards.
     *
     * @throws IllegalStateException if the batch has ranges, but is not launched or not complete
     */
    public void release() {
        if (work == null) {
            throw new IllegalStateException("the batch is already released");
        }
        if (launched ? !done.isComplete() : size > 0 || staged) {
            throw new IllegalStateException(
                "the batch cannot be released, because its " + size + " ranges are not complete");
        }
        begin(null);
        kernels.free(this);
    }
}
