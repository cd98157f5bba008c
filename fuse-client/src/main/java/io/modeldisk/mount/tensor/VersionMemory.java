package io.modeldisk.mount.tensor;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;

/**
 * Limits the memory of all open files that hold a version of the weights. The limit is {@value #MODELS} times the size of the
 * model plus 16 MiB, so programs that forget to close files cannot exhaust the memory of the machine. Thread-safe.
 */
public final class VersionMemory {
    /** The limit as a multiple of the size of the model, without the extra bytes. */
    static final int MODELS = 4;

    /** The bytes that are added to the limit, so the limit is large enough for small models. */
    private static final long EXTRA_BYTES = 16 << 20;

    private final RemoteModel model;
    private final long limitBytes;
    // Guarded by the monitor of this object.
    private long usedBytes;

    /** Creates the limit for a model. */
    public VersionMemory(RemoteModel model) {
        this.model = model;
        this.limitBytes = MODELS * model.facts().sizeBytes() + EXTRA_BYTES;
    }

    /** Returns the memory in use, in bytes. */
    public synchronized long usedBytes() {
        return usedBytes;
    }

    /**
     * Allocates memory.
     *
     * @throws ErrnoException EMFILE if the limit would be exceeded, ENOMEM if the machine has too little memory
     */
    DataMemory allocate(String file, long bytes) throws IOException {
        synchronized (this) {
            if (usedBytes + bytes > limitBytes) {
                throw new ErrnoException(Errno.EMFILE,
                    file + " needs " + ByteSize.format(bytes) + ", but the versions of"
                        + " open files already use " + ByteSize.format(usedBytes) + ", and the limit is "
                        + ByteSize.format(limitBytes) + ": close files that are not in use");
            }
            usedBytes += bytes;
        }
        try {
            return model.allocate(bytes);
        } catch (IOException | OutOfMemoryError e) {
            freed(bytes);
            throw new ErrnoException(Errno.ENOMEM, file + ": " + e.getMessage(), e);
        } catch (RuntimeException e) {
            freed(bytes);
            throw e;
        }
    }

    /** Frees memory that {@link #allocate} has returned for this number of bytes. */
    void free(DataMemory memory, long bytes) {
        memory.close();
        freed(bytes);
    }

    private synchronized void freed(long bytes) {
        usedBytes -= bytes;
    }
}
