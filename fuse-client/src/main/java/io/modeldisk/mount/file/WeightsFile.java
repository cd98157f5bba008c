package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.CancellableLock;
import io.modeldisk.mount.exchange.LogicalBlocks;
import io.modeldisk.mount.exchange.Memories;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;

/**
 * The file {@code weights}: the weights as a plain file (LUN 1). A write replaces weights. Processes can read and write the file
 * at any offset, and do not become learners.
 */
public final class WeightsFile implements MountedFile, AutoCloseable {
    private final RemoteModel model;
    private final FixedSize size;
    // Writes of whole logical blocks hold this lock shared. A write of partial blocks first reads the blocks from the shards and
    // holds this lock exclusively.
    private final CancellableLock lock = new CancellableLock();
    // Memory for the logical blocks that a write of partial blocks changes. Guarded by {@code lock}, which is held exclusively.
    private final DataMemory patch;

    /**
     * Creates the file of this model.
     *
     * @throws IOException if the memory for writes of partial blocks cannot be allocated
     */
    public WeightsFile(RemoteModel model, NanoClock clock) throws IOException {
        this.model = model;
        this.patch = model.allocate(DataRequest.MEMORY_BYTES);
        this.size = new FixedSize(name(), model.facts().sizeBytes(), clock);
    }

    @Override
    public String name() {
        return MountEntry.WEIGHTS.fileName();
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public boolean movesData() {
        return true;
    }

    @Override
    public boolean hasWeights() {
        return true;
    }

    @Override
    public boolean isWritableByMap() {
        return true;
    }

    @Override
    public long sizeBytes() {
        return size.bytes();
    }

    @Override
    public long modifiedMs() {
        return size.modifiedMs();
    }

    @Override
    public FileHandle open(boolean writable, Cancellation cancellation) {
        return new Handle();
    }

    /** Frees the memory. May be called only when no other call uses the file. */
    @Override
    public void close() {
        patch.close();
    }

    private void writeWhole(long offset, int lengthBytes, DataRequest request) throws IOException {
        long bytes = LogicalBlocks.up(lengthBytes);
        Memories.zero(request.memory(), request.memoryOffset() + lengthBytes, bytes - lengthBytes);
        long stamp = lock.lockShared(request.cancellation());
        try {
            model.write(offset, request.memory(), request.memoryOffset(), bytes, request.cancellation());
        } finally {
            lock.unlock(stamp);
        }
    }

    private void writeParts(long offset, int lengthBytes, DataRequest request) throws IOException {
        Cancellation cancellation = request.cancellation();
        long start = LogicalBlocks.down(offset);
        long end = LogicalBlocks.up(offset + lengthBytes);
        long stamp = lock.lockExclusive(cancellation);
        try {
            long block = LogicalBlocks.up(1);
            model.read(start, patch, 0, block, cancellation);
            if (end - start > block) {
                model.read(end - block, patch, end - block - start, block, cancellation);
            }
            Memories.copy(request.memory(), request.memoryOffset(), patch, offset - start, lengthBytes);
            model.write(start, patch, 0, end - start, cancellation);
        } finally {
            lock.unlock(stamp);
        }
    }

    private final class Handle implements FileHandle {
        @Override
        public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
            int within = size.readable(offset, lengthBytes);
            if (within > 0) {
                long start = LogicalBlocks.down(offset);
                long bytes = LogicalBlocks.up(offset + within) - start;
                model.read(start, request.memory(), request.memoryOffset(), bytes, request.cancellation());
                request.reply(request.memory(), request.memoryOffset() + offset - start, within);
            }
        }

        @Override
        public int write(long offset, int lengthBytes, DataRequest request) throws IOException {
            int within = size.writable(offset, lengthBytes);
            boolean whole = LogicalBlocks.isAligned(offset)
                && (LogicalBlocks.isAligned(within) || offset + within == size.bytes());
            if (whole) {
                writeWhole(offset, within, request);
            } else {
                writeParts(offset, within, request);
            }
            size.modified();
            return within;
        }

        @Override
        public void synchronize(Cancellation cancellation) {
            // Nothing to do: a write returns only after the shards have received its data.
        }

        @Override
        public void flush(Cancellation cancellation) {
            // Nothing to do: a write returns only after the shards have received its data.
        }

        @Override
        public void release() {
            // Nothing to do: the handle owns no resources.
        }
    }
}
