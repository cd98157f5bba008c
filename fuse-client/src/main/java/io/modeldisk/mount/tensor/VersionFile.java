package io.modeldisk.mount.tensor;

import io.modeldisk.mount.exchange.Memories;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.fuse.OpenRequest;
import io.modeldisk.platform.cancellation.CancellableLock;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.ReadVersion;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A file with weights of one version. An open reads the weights from the shards, and the content of an open file never changes.
 * Handles with the same version share the memory of the weights. Read-only.
 */
public final class VersionFile implements MountedFile {
    /** The name of the file that contains the whole model. */
    public static final String MODEL = "model.safetensors";

    /** The directory of the files that contain one tensor each. */
    public static final String TENSORS = "tensors/";

    private static final ReadVersion NOTHING = new ReadVersion(ReadVersion.NO_ROUND, 0, 0, 0, 0, 0, true);

    private final RemoteModel model;
    private final VersionMemory memories;
    private final String name;
    private final FileHead head;
    private final long begin;
    private final long end;
    /** The range of whole blocks that contains the weights of this file. */
    private final long rangeStart;
    private final long rangeBytes;
    /** Held while an open reads the weights, so a concurrent open waits and then shares these weights. */
    private final CancellableLock opening = new CancellableLock();
    /** The open inodes, by their number. Guarded by the monitor of this object. */
    private final Map<Long, Inode> inodes = new HashMap<>();
    /** The version that was read last; null if no file with this version is open. Guarded by the monitor of this object. */
    private Content newest;

    private VersionFile(RemoteModel model, VersionMemory memories, String name, FileHead head, long begin, long end) {
        ModelFacts facts = model.facts();
        this.model = model;
        this.memories = memories;
        this.name = name;
        this.head = head;
        this.begin = begin;
        this.end = end;
        int block = facts.blockSizeBytes();
        this.rangeStart = begin / block * block;
        this.rangeBytes = begin == end
            ? 0
            : Math.min(LogicalBlock.up(facts.sizeBytes()), (end + block - 1) / block * block) - rangeStart;
    }

    /**
     * Returns the file with the whole model, and a file for each tensor.
     *
     * @param metadata the metadata of the file with the initial weights
     */
    public static List<MountedFile> of(RemoteModel model, List<NamedTensor> tensors, Map<String, String> metadata,
        VersionMemory memories) {
        List<MountedFile> files = new ArrayList<>();
        files.add(new VersionFile(model, memories, MODEL, FileHead.safetensors(model.facts(), tensors, metadata), 0,
            model.facts().sizeBytes()));
        for (NamedTensor tensor : tensors) {
            files.add(new VersionFile(model, memories, TENSORS + TensorFileName.of(tensor.name()),
                FileHead.npy(tensor), tensor.begin(), tensor.end()));
        }
        return files;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean is(Trait trait) {
        return trait == Trait.WAITS_AT_OPEN || trait == Trait.CONSTANT_WHILE_OPEN;
    }

    @Override
    public long sizeBytes() {
        return head.bytes() + end - begin;
    }

    @Override
    public FileHandle open(OpenRequest request, long instance) throws IOException {
        Cancellation cancellation = request.cancellation();
        try (CancellableLock.Held _ = opening.exclusive(cancellation)) {
            Content content = instance == 0 ? null : ofInode(instance);
            content = content == null ? shared(cancellation) : content;
            content = content == null ? read(request.sinceNs(), cancellation) : content;
            synchronized (this) {
                Inode inode = inodes.computeIfAbsent(instance, number -> new Inode());
                inode.content = content;
                inode.handles++;
            }
            return new Handle(content, instance);
        }
    }

    @Override
    public FileHandle resume(boolean writable) throws IOException {
        throw new IOException(
            name + " was open when the process of the mount was restarted, and its version is lost; open it again");
    }

    /**
     * Returns the content of an inode that is already open, for example because it is opened again through /proc/PID/fd; null if
     * it is not open.
     */
    private synchronized Content ofInode(long instance) {
        Inode inode = inodes.get(instance);
        if (inode == null) {
            return null;
        }
        inode.content.handles++;
        return inode.content;
    }

    private synchronized void leave(long instance) {
        Inode inode = inodes.get(instance);
        inode.handles--;
        if (inode.handles == 0) {
            inodes.remove(instance);
        }
    }

    /**
     * Returns the content of the version that was read last, if this version is still the newest. Otherwise returns null. Also
     * returns null if a shard does not respond, because a new read then connects again.
     */
    private Content shared(Cancellation cancellation) throws IOException {
        Content candidate;
        synchronized (this) {
            candidate = newest;
            if (candidate == null) {
                return null;
            }
            candidate.handles++;
        }
        boolean isNewest = false;
        try {
            isNewest = rangeBytes == 0 || model.isNewest(candidate.version, rangeStart, rangeBytes, cancellation);
        } catch (ShardException e) {
            if (e.kind() != ShardException.Kind.PATH_LOST && e.kind() != ShardException.Kind.BUSY) {
                throw e;
            }
        } finally {
            if (!isNewest) {
                release(candidate);
            }
        }
        return isNewest ? candidate : null;
    }

    private Content read(long sinceNs, Cancellation cancellation) throws IOException {
        Content content = new Content();
        if (rangeBytes == 0) {
            content.version = NOTHING;
        } else {
            content.memory = memories.allocate(name, rangeBytes);
            try {
                content.version = model.readVersion(rangeStart, content.memory, 0, rangeBytes, sinceNs, cancellation);
            } catch (IOException | RuntimeException | Error e) {
                memories.free(content.memory, rangeBytes);
                throw e;
            }
        }
        content.head = head.of(content.version);
        synchronized (this) {
            newest = content;
        }
        return content;
    }

    private void release(Content content) {
        synchronized (this) {
            content.handles--;
            if (content.handles > 0) {
                return;
            }
            newest = newest == content ? null : newest;
        }
        if (content.memory != null) {
            memories.free(content.memory, rangeBytes);
        }
    }

    /** The weights of one version, shared by all handles of this version. */
    private static final class Content {
        private DataMemory memory;
        private ReadVersion version;
        private byte[] head;
        /** The number of handles. Guarded by the monitor of the file. */
        private int handles = 1;
    }

    /** An inode of the kernel. All its pages in the page cache belong to one version. Guarded by the monitor of the file. */
    private static final class Inode {
        private Content content;
        private int handles;
    }

    private final class Handle implements FileHandle {
        private final Content content;
        private final long instance;

        Handle(Content content, long instance) {
            this.content = content;
            this.instance = instance;
        }

        @Override
        public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
            int within = offset < 0 ? 0 : (int) Math.clamp(sizeBytes() - offset, 0L, lengthBytes);
            if (within == 0) {
                return;
            }
            int ofHead = (int) Math.clamp(head.bytes() - offset, 0L, within);
            long weights = begin - rangeStart + offset + ofHead - head.bytes();
            if (ofHead == 0) {
                request.reply(content.memory, weights, within);
                return;
            }
            Memories.copy(content.head, (int) offset, request.memory(), request.memoryOffset(), ofHead);
            if (ofHead < within) {
                Memories.copy(content.memory, weights, request.memory(), request.memoryOffset() + ofHead,
                    within - ofHead);
            }
            request.reply(request.memory(), request.memoryOffset(), within);
        }

        @Override
        public void release() {
            leave(instance);
            VersionFile.this.release(content);
        }
    }
}
