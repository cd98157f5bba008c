package io.modeldisk.bench.mount;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FileAccess;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.FuseFileSystem;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A file system with the file {@code model}, which discards writes and replies to reads with bytes of any value. Thread-safe. */
public final class NullFile implements FuseFileSystem, MountedFile, FileHandle {
    private final long sizeBytes;

    private NullFile(long sizeBytes) {
        this.sizeBytes = sizeBytes;
    }

    /** Mounts the file system with a binding. */
    public static FuseSession mount(String binding, Path directory, long sizeBytes) throws IOException {
        FuseOptions options = new FuseOptions("modeldisk", FuseOptions.DEFAULT_DATA_REQUESTS, FileAccess.ofThisUser(),
            true,
            false, NanoClock.SYSTEM, DataMemory::allocate, Handover.none());
        return FuseBinding.named(binding).mount(directory, new NullFile(sizeBytes), options);
    }

    @Override
    public List<MountedFile> files() {
        return List.of(this);
    }

    @Override
    public List<String> attributeNames() {
        return List.of();
    }

    @Override
    public Optional<String> attribute(String name) {
        return Optional.empty();
    }

    @Override
    public long capacityBytes() {
        return sizeBytes;
    }

    @Override
    public Errno errno(IOException failure) {
        return Errno.EIO;
    }

    @Override
    public String name() {
        return "model";
    }

    @Override
    public boolean is(Trait trait) {
        return trait == Trait.WRITABLE;
    }

    @Override
    public long sizeBytes() {
        return sizeBytes;
    }

    @Override
    public FileHandle open(boolean writable, Cancellation cancellation) {
        return this;
    }

    @Override
    public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
        request.reply(request.memory(), request.memoryOffset(), (int) Math.clamp(sizeBytes - offset, 0L, lengthBytes));
    }

    @Override
    public int write(long offset, int lengthBytes, DataRequest request) {
        return lengthBytes;
    }

    @Override
    public void synchronize(Cancellation cancellation) {
        // Nothing to wait for: the file moves no data.
    }

    @Override
    public void flush(Cancellation cancellation) {
        // Nothing to wait for: the file moves no data.
    }

    @Override
    public void release() {
        // Nothing to do: the handle owns no resources.
    }
}
