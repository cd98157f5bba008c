package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.cuda.FoldKernels.Work;
import io.modeldisk.aggregator.cuda.OperationQueue.Kind;
import io.modeldisk.aggregator.cuda.OperationQueue.Operation;
import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.aggregator.device.GradientType;

/**
 * A group of operations that a device performs together. The device first copies the data of the operations from the host, then
 * adds gradients to sums, then applies gradients and sums to weights, and finally copies weights to the host. There is one stream
 * for the copies from the host, one for the kernels and one for the copies to the host, so the work of different groups overlaps.
 * Only one thread uses a group.
 */
final class FoldGroup {
    /** The maximum number of copies to the host in a group. */
    private static final int MAX_MIRRORS = 1024;

    private final OperationQueue queue;
    private final ShardMemory memory;
    private final FoldKernels kernels;
    private final Streams streams;
    private final int blockSizeBytes;
    private final CudaEvent copied;
    private final CudaEvent applied;
    private final CudaEvent done;
    private final Operation[] copies = new Operation[MAX_MIRRORS];
    private int copyCount;
    private Batch sums;
    private Batch updates;
    private long number;
    private long last;
    private long after;
    private int runStart;
    private int runPlaces;
    private long runBytes;
    private boolean hasArrivals;

    /** The streams of a shard: copies from the host, kernels, and copies to the host. */
    record Streams(CudaStream toDevice, CudaStream kernels, CudaStream toHost) {}

    /** For each block: the newest group that copies its weights to the host, and the newest group that changes its weights. */
    static final class Marks {
        private final long[] mirrored;
        private final long[] folded;

        Marks(int blocks) {
            mirrored = new long[blocks];
            folded = new long[blocks];
        }
    }

    FoldGroup(
        CudaDevice device, DeviceShape shape, OperationQueue queue, ShardMemory memory, FoldKernels kernels,
        Streams streams) {
        this.queue = queue;
        this.memory = memory;
        this.kernels = kernels;
        this.streams = streams;
        this.blockSizeBytes = shape.blockSizeBytes();
        this.copied = device.newEvent();
        this.applied = device.newEvent();
        this.done = device.newEvent();
    }

    /** Starts an empty group. {@code nextNumber} is above 0 and above the numbers of all earlier groups. */
    void begin(long nextNumber) {
        number = nextNumber;
        copyCount = 0;
        after = 0;
        runPlaces = 0;
        runBytes = 0;
        hasArrivals = false;
    }

    /** Adds an operation. Returns false, without any effect, if the operation must wait for a later group. */
    boolean add(long ticket, Marks marks) {
        Operation operation = queue.operation(ticket);
        int block = operation.block;
        boolean added = switch (operation.kind) {
            case FOLD -> marks.mirrored[block] != number && updates().fold(memory.block(block), operation.offset,
                gradient(operation), gradientOffset(operation), operation.type, operation.lengthBytes,
                operation.scale, operation.value);
            case FOLD_SUM -> marks.mirrored[block] != number && updates().fold(memory.block(block),
                operation.offset, memory.sum(block), operation.offset, GradientType.FLOAT32, operation.lengthBytes,
                operation.scale, operation.value);
            // A group changes sums before weights, so a gradient that follows a fold of the same block waits for the next group.
            case ACCUMULATE -> marks.folded[block] != number && sums().accumulate(memory.sum(block),
                operation.offset, gradient(operation), gradientOffset(operation), operation.type,
                operation.lengthBytes, operation.value == 1);
            case MIRROR, LOAD_STATE, LOAD_SUM -> copyCount < copies.length;
            case STORE_WEIGHTS, STORE_STATE, STORE_SUM, NOTHING -> true;
        };
        if (added) {
            note(operation, marks);
            last = ticket;
        }
        return added;
    }

    private void note(Operation operation, Marks marks) {
        Kind kind = operation.kind;
        int block = operation.block;
        switch (kind) {
            case FOLD, FOLD_SUM -> {
                marks.folded[block] = number;
                after = Math.max(after, marks.mirrored[block]);
                if (kind == Kind.FOLD) {
                    copyData(operation);
                }
            }
            case ACCUMULATE -> copyData(operation);
            case MIRROR, LOAD_STATE, LOAD_SUM -> {
                copies[copyCount++] = operation;
                if (kind == Kind.MIRROR) {
                    marks.mirrored[block] = number;
                }
            }
            case STORE_WEIGHTS, STORE_STATE, STORE_SUM -> store(operation);
            case NOTHING -> {
            }
        }
    }

    private Batch updates() {
        updates = updates == null ? kernels.tryBegin(Work.FOLD) : updates;
        return updates;
    }

    private Batch sums() {
        sums = sums == null ? kernels.tryBegin(Work.ACCUMULATE) : sums;
        return sums;
    }

    private DeviceMemory gradient(Operation operation) {
        return operation.source == OperationQueue.COPIED
            ? memory.gradient(operation.place())
            : memory.arrivals().memory();
    }

    private long gradientOffset(Operation operation) {
        return operation.source == OperationQueue.COPIED ? 0 : operation.source;
    }

    /**
     * Adds the data of an operation to the current copy from the host, or starts a new copy if the data is not adjacent. Data
     * that an RDMA device has put into device memory needs no copy.
     */
    private void copyData(Operation operation) {
        if (operation.source != OperationQueue.COPIED) {
            hasArrivals = true;
            return;
        }
        int place = operation.place();
        boolean follows = runPlaces > 0 && place == runStart + runPlaces
            && runBytes == (long) runPlaces * blockSizeBytes;
        if (!follows) {
            copyRun();
            runStart = place;
            runPlaces = 0;
            runBytes = 0;
        }
        runPlaces++;
        runBytes += operation.type.gradientBytes(operation.lengthBytes);
    }

    private void copyRun() {
        if (runPlaces > 0) {
            streams.toDevice.copyToDevice(memory.push(runStart), memory.gradient(runStart), runBytes);
        }
    }

    private void store(Operation operation) {
        int block = operation.block;
        int lengthBytes = operation.lengthBytes;
        DeviceMemory target = switch (operation.kind) {
            case STORE_WEIGHTS -> memory.block(block).weights();
            case STORE_SUM -> memory.sum(block);
            default -> memory.block(block).state().slice(operation.value * lengthBytes, lengthBytes);
        };
        streams.toDevice.copyToDevice(memory.push(operation.place()), target, lengthBytes);
    }

    /** Starts the group. Group n has the index {@code n % groups.length}. All groups up to {@code doneUpTo} are done. */
    void launch(FoldGroup[] groups, long doneUpTo) {
        if (hasArrivals) {
            memory.arrivals().flush();
        }
        copyRun();
        if (sums != null) {
            sums.stage(streams.toDevice);
        }
        if (updates != null) {
            updates.stage(streams.toDevice);
        }
        streams.toDevice.record(copied);
        streams.kernels.waitFor(copied);
        if (after > doneUpTo) {
            // An earlier group copies the old weights to the host. Its copies must be complete before the weights change.
            streams.kernels.waitFor(groups[(int) (after % groups.length)].done);
        }
        if (sums != null) {
            sums.launch(streams.kernels);
        }
        if (updates != null) {
            updates.launch(streams.kernels);
        }
        streams.kernels.record(applied);
        streams.toHost.waitFor(applied);
        for (int i = 0; i < copyCount;) {
            i += copyToHost(i);
        }
        streams.toHost.record(done);
    }

    /** Starts a copy to the host, for operation {@code first} alone or for adjacent blocks. Returns its number of operations. */
    private int copyToHost(int first) {
        Operation operation = copies[first];
        int block = operation.block;
        int lengthBytes = operation.lengthBytes;
        switch (operation.kind) {
            case MIRROR -> {
                return copyMirrors(first, block, operation.value);
            }
            case LOAD_STATE -> streams.toHost.copyToHost(memory.block(block).state(), memory.loaded(), lengthBytes);
            default -> streams.toHost.copyToHost(memory.sum(block), memory.loaded(), lengthBytes);
        }
        return 1;
    }

    /** Copies blocks that are adjacent both on the device and on the host. Returns the number of blocks. */
    private int copyMirrors(int first, int block, long mirrorOffset) {
        PinnedMemory mirror = memory.mirror(mirrorOffset);
        int count = 0;
        long bytes = 0;
        do {
            bytes += copies[first + count].lengthBytes;
            count++;
        } while (first + count < copyCount && copies[first + count].kind == Kind.MIRROR
            && copies[first + count].block == block + count
            && copies[first + count].value == mirrorOffset + bytes && bytes < mirror.segment().byteSize());
        streams.toHost.copyToHost(memory.weightsFrom(block), mirror, bytes);
        return count;
    }

    /** Returns true if the device has made all changes of the group to weights, state and sums. */
    boolean isApplied() {
        return applied.isComplete();
    }

    /** Returns true if the device has completed all work of the group. The group can then begin again. */
    boolean isDone() {
        if (!done.isComplete()) {
            return false;
        }
        if (sums != null) {
            sums.release();
            sums = null;
        }
        if (updates != null) {
            updates.release();
            updates = null;
        }
        return true;
    }

    /** Returns the last ticket of the group. */
    long last() {
        return last;
    }
}
