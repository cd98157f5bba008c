package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.DirtyBlocks;
import io.modeldisk.mount.exchange.Memories;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.platform.cancellation.CancellableLock;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The file {@code weights}: the weights as a plain file (LUN 1). A write replaces weights. Processes can read and write the file
 * at any offset, and do not become learners. A truncation to 0 sets all weights to zero, because programs that copy a file with
 * holes skip the holes after a truncation.
 */
public final class WeightsFile implements MountedFile, AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(WeightsFile.class);

    private final RemoteModel model;
    private final FixedSize size;
    // Writes of whole logical blocks hold this lock in shared mode. A write of partial blocks first reads the blocks from the
    // shards, and holds this lock exclusively.
    private final CancellableLock lock = new CancellableLock();
    // Memory for the logical blocks that a write of partial blocks changes. A thread that uses this memory holds {@code lock}
    // exclusively.
    private final DataMemory patch;
    private final AtomicInteger handles = new AtomicInteger();
    // The logical blocks that were written since a truncation; null if no truncation is pending. All other blocks are set to zero
    // before the next read, or at the next close. A copy of a file without holes thus sends no zeros. Guarded by {@code lock}.
    private volatile DirtyBlocks written;

    /**
     * Creates the file of this model.
     *
     * @throws IOException if the memory for writes of partial blocks cannot be allocated
     */
    public WeightsFile(RemoteModel model) throws IOException {
        this.model = model;
        this.patch = model.allocate(DataRequest.MEMORY_BYTES);
        this.size = new FixedSize(name(), model.facts().sizeBytes());
    }

    @Override
    public String name() {
        return MountEntry.WEIGHTS.fileName();
    }

    @Override
    public boolean is(Trait trait) {
        return trait == Trait.WRITABLE || trait == Trait.WRITABLE_BY_MAP || trait == Trait.WEIGHTS;
    }

    @Override
    public long sizeBytes() {
        return size.bytes();
    }

    @Override
    public FileHandle open(boolean writable, Cancellation cancellation) {
        handles.incrementAndGet();
        return new Handle(writable);
    }

    @Override
    public void clear(Cancellation cancellation) throws IOException {
        try (CancellableLock.Held _ = lock.exclusive(cancellation)) {
            written = new DirtyBlocks(size.bytes());
        }
        // If no handle is open, the truncation is from a truncate(2), which no close follows.
        if (handles.get() == 0) {
            endTruncation(cancellation);
        }
    }

    /**
     * Writes the zeros of a truncation, and ends the truncation even if the shards do not receive all zeros. In that case, the
     * process that truncated the file receives an error, and no further weights become zero later.
     */
    private void endTruncation(Cancellation cancellation) throws IOException {
        DirtyBlocks pending = written;
        try {
            writeZeros(cancellation);
        } catch (IOException e) {
            try (CancellableLock.Held _ = lock.exclusive()) {
                if (written == pending) {
                    written = null;
                }
            }
            throw e;
        }
    }

    /**
     * Writes the zeros of a pending truncation now, because the next process of the mount takes over the open files without the
     * pending truncation. Later writes replace the zeros.
     *
     * @return false if the shards have not received all zeros
     */
    public boolean endTruncation() {
        try {
            endTruncation(new Cancellation());
            return true;
        } catch (IOException e) {
            LOG.warn("not all weights became zero after a truncation of {}: {}", name(), e.getMessage());
            return false;
        }
    }

    /** Writes zeros to the blocks that were not written since a truncation. If this method fails, it can be called again. */
    private void writeZeros(Cancellation cancellation) throws IOException {
        if (written == null) {
            return;
        }
        try (CancellableLock.Held _ = lock.exclusive(cancellation)) {
            DirtyBlocks done = written;
            if (done == null) {
                return;
            }
            Memories.zero(patch, 0, DataRequest.MAX_REQUEST_BYTES);
            long end = LogicalBlock.up(size.bytes());
            for (long at = done.nextClean(0); at < end; at = done.nextClean(at)) {
                long next = done.nextDirty(at);
                long bytes = Math.min((next < 0 ? end : next) - at, DataRequest.MAX_REQUEST_BYTES);
                model.write(at, patch, 0, bytes, cancellation);
                done.mark(at, bytes);
            }
            written = null;
        }
    }

    /** Records that blocks were written. The caller holds the lock. */
    private void wrote(long start, long lengthBytes) {
        if (written != null) {
            written.mark(start, lengthBytes);
        }
    }

    /** Frees the memory. May be called only when no other call uses the file. */
    @Override
    public void close() {
        patch.close();
    }

    private void writeWhole(long offset, int lengthBytes, DataRequest request) throws IOException {
        long bytes = LogicalBlock.up(lengthBytes);
        Memories.zero(request.memory(), request.memoryOffset() + lengthBytes, bytes - lengthBytes);
        try (CancellableLock.Held _ = lock.shared(request.cancellation())) {
            model.write(offset, request.memory(), request.memoryOffset(), bytes, request.cancellation());
            wrote(offset, bytes);
        }
    }

    private void writeParts(long offset, int lengthBytes, DataRequest request) throws IOException {
        Cancellation cancellation = request.cancellation();
        long start = LogicalBlock.down(offset);
        long end = LogicalBlock.up(offset + lengthBytes);
        try (CancellableLock.Held _ = lock.exclusive(cancellation)) {
            readBlock(start, 0, cancellation);
            if (end - start > LogicalBlock.BYTES) {
                readBlock(end - LogicalBlock.BYTES, end - LogicalBlock.BYTES - start, cancellation);
            }
            Memories.copy(request.memory(), request.memoryOffset(), patch, offset - start, lengthBytes);
            model.write(start, patch, 0, end - start, cancellation);
            wrote(start, end - start);
        }
    }

    private void readBlock(long offset, long patchOffset, Cancellation cancellation) throws IOException {
        if (written != null && written.nextClean(offset) == offset) {
            Memories.zero(patch, patchOffset, LogicalBlock.BYTES);
        } else {
            model.read(offset, patch, patchOffset, LogicalBlock.BYTES, cancellation);
        }
    }

    private final class Handle implements FileHandle {
        private final boolean writable;

        Handle(boolean writable) {
            this.writable = writable;
        }

        @Override
        public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
            int within = size.readable(offset, lengthBytes);
            if (within > 0) {
                writeZeros(request.cancellation());
                long start = LogicalBlock.down(offset);
                long bytes = LogicalBlock.up(offset + within) - start;
                model.read(start, request.memory(), request.memoryOffset(), bytes, request.cancellation());
                request.reply(request.memory(), request.memoryOffset() + offset - start, within);
            }
        }

        @Override
        public int write(long offset, int lengthBytes, DataRequest request) throws IOException {
            int within = size.writable(offset, lengthBytes);
            boolean whole = LogicalBlock.isAligned(offset)
                && (LogicalBlock.isAligned(within) || offset + within == size.bytes());
            if (whole) {
                writeWhole(offset, within, request);
            } else {
                writeParts(offset, within, request);
            }
            return within;
        }

        @Override
        public void synchronize(Cancellation cancellation) throws IOException {
            // A write returns only after the shards have received its data.
            writeZeros(cancellation);
        }

        @Override
        public void flush(Cancellation cancellation) throws IOException {
            writeZeros(cancellation);
        }

        @Override
        public void release() {
            if (handles.decrementAndGet() > 0 && !writable) {
                return;
            }
            // Zeros are still pending if the flush at the close failed, or if a truncate(2) came after the close.
            endTruncation();
        }
    }
}
