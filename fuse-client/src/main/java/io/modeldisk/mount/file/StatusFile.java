package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.Memories;
import io.modeldisk.mount.fuse.Errno;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.fuse.Transfer;
import io.modeldisk.protocol.striping.Cancellation;
import java.io.IOException;
import java.util.function.Supplier;

/** The mount's status as text, as it was when the file was opened. Its size shows as 0, as with files in /proc. */
public final class StatusFile implements MountedFile {
    private final Supplier<byte[]> text;

    /** A file that asks this for its text each time it is opened. */
    public StatusFile(Supplier<byte[]> text) {
        this.text = text;
    }

    @Override
    public String name() {
        return "status.json";
    }

    @Override
    public int permissions() {
        return 0444;
    }

    @Override
    public long sizeBytes() {
        return 0;
    }

    @Override
    public long modifiedMs() {
        return System.currentTimeMillis();
    }

    @Override
    public FileHandle open(boolean writable, Cancellation cancellation) throws ErrnoException {
        if (writable) {
            throw new ErrnoException(Errno.EACCES, name() + " is read-only");
        }
        return new Handle(text.get());
    }

    private record Handle(byte[] text) implements FileHandle {
        @Override
        public void read(long offset, int lengthBytes, Transfer transfer) throws IOException {
            int within = (int) Math.clamp(text.length - offset, 0L, lengthBytes);
            if (within > 0) {
                Memories.copy(text, (int) offset, transfer.memory(), transfer.memoryOffset(), within);
                transfer.reply(transfer.memory(), transfer.memoryOffset(), within);
            }
        }

        @Override
        public int write(long offset, int lengthBytes, Transfer transfer) throws ErrnoException {
            throw new ErrnoException(Errno.EACCES, "status.json is read-only");
        }

        @Override
        public void synchronize(Cancellation cancellation) {
            // Nothing is written.
        }

        @Override
        public void flush() {
            // Nothing is written.
        }

        @Override
        public void release() {
            // Nothing is held.
        }
    }
}
