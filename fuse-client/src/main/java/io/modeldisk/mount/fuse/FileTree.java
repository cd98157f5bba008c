package io.modeldisk.mount.fuse;

import io.modeldisk.mount.fuse.MountedFile.Trait;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The files and directories of a mount with their attributes. Also checks whether a process is allowed to change them.
 * Thread-safe.
 */
public final class FileTree {
    /** The types of nodes. Each type has a number for directory entries and bits for the mode of a file (inode(7)). */
    public enum Type {
        DIRECTORY(4, 0040000), FILE(8, 0100000), LINK(10, 0120000);

        private final int number;
        private final int modeBits;

        Type(int number, int modeBits) {
            this.number = number;
            this.modeBits = modeBits;
        }

        /** Returns the number in directory entries. */
        public int number() {
            return number;
        }
    }

    /**
     * The attributes of a node, as stat(2) returns them.
     *
     * @param mode the type and the permission bits
     * @param modifiedMs the time of the last change, in milliseconds since 1970
     * @param access the owner
     */
    public record Attributes(int mode, long sizeBytes, long modifiedMs, FileAccess access) {}

    /** The maximum length of a file name. A lookup of a longer name fails with ENAMETOOLONG. */
    public static final int MAX_NAME_BYTES = 255;

    private static final String DIRECTORY_IS_FIXED = "files of a modeldisk mount cannot be created, removed or renamed";
    /**
     * stat(2) shows a time of the last change that is always this far in the future. Other learners change the weights at any
     * time, and with an old time, rsync and cp -u would not copy new weights. The distance is 2 s, because rsync compares whole
     * seconds and the kernel caches a time for a second. A copy that was just written thus never has the same time.
     */
    private static final long AHEAD_MS = 2000;

    /** FALLOC_FL_KEEP_SIZE. */
    private static final int KEEP_SIZE = 1;
    /** XATTR_CREATE of setxattr(2). */
    private static final int CREATE_ATTRIBUTE = 1;
    private static final int LINK_PERMISSIONS = 0777;
    private static final long BLOCK_BYTES = 4096;

    private final FuseFileSystem fileSystem;
    private final FileAccess access;
    private final boolean readOnly;
    private final MemoryFiles memories;
    private final Nodes nodes;
    private final long startedMs = Instant.now().toEpochMilli();

    /** Creates the tree of all files of a file system. */
    public FileTree(FuseFileSystem fileSystem, FuseOptions options, MemoryFiles memories) {
        this.fileSystem = fileSystem;
        this.access = options.access();
        this.readOnly = options.readOnly();
        this.memories = memories;
        this.nodes = new Nodes(fileSystem.files());
    }

    /** Returns the node numbers of the files and directories. */
    public Nodes nodes() {
        return nodes;
    }

    /** Returns the file with this node number. */
    public MountedFile file(long node) throws ErrnoException {
        MountedFile file = nodes.file(node);
        if (file == null && nodes.entries(node) != null) {
            throw new ErrnoException(Errno.EISDIR, "a request for a file was sent to a directory");
        }
        if (file == null) {
            throw new ErrnoException(Errno.ENOENT, "no file has the node number " + node);
        }
        return file;
    }

    /** Returns the names in the directory with this node number. */
    public List<Nodes.Entry> directory(long node) throws ErrnoException {
        List<Nodes.Entry> entries = nodes.entries(node);
        if (entries == null) {
            throw new ErrnoException(Errno.ENOTDIR, "a request for a directory was sent to a file");
        }
        return entries;
    }

    /** Returns the node number of a name in the directory with this node number. */
    public long find(long directory, String name) throws ErrnoException {
        directory(directory);
        long node = nodes.find(directory, name);
        if (node == 0 && name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
            throw new ErrnoException(Errno.ENAMETOOLONG, "a name has more than " + MAX_NAME_BYTES + " bytes");
        }
        if (node == 0) {
            throw new ErrnoException(Errno.ENOENT, "the mount has no file '" + name + "'");
        }
        return node;
    }

    /** Returns the node number of a path that starts with a slash, which stands for the mounted directory. */
    public long node(String path) throws ErrnoException {
        long node = Nodes.ROOT_NODE;
        for (String name : path.split("/")) {
            node = name.isEmpty() ? node : find(node, name);
        }
        return node;
    }

    /** Returns the file with this node number. The mount must show this file as a symbolic link. */
    public MountedFile link(long node) throws ErrnoException {
        MountedFile file = file(node);
        if (type(node) != Type.LINK) {
            throw new ErrnoException(Errno.EINVAL, file.name() + " is not a symbolic link");
        }
        return file;
    }

    /** Returns the type of a node. */
    public Type type(long node) {
        MountedFile file = nodes.file(node);
        if (file == null) {
            return Type.DIRECTORY;
        }
        return file.is(Trait.MEMORY) && memories.areLinks() ? Type.LINK : Type.FILE;
    }

    /** Returns the attributes of a node. */
    public Attributes attributes(long node) throws ErrnoException {
        Type type = type(node);
        if (nodes.entries(node) != null) {
            return new Attributes(type.modeBits | access.directoryBits(), 0, startedMs, access);
        }
        MountedFile file = file(node);
        long modifiedMs = Instant.now().toEpochMilli() + AHEAD_MS;
        return type == Type.LINK
            ? new Attributes(type.modeBits | LINK_PERMISSIONS, 0, modifiedMs, access)
            : new Attributes(type.modeBits | access.fileBits(file.is(Trait.WRITABLE) && !readOnly), file.sizeBytes(),
                modifiedMs,
                access);
    }

    /** Opens the file with this node number. The file must not have the trait {@link Trait#MEMORY}. */
    public FileHandle open(long node, OpenRequest request) throws IOException {
        MountedFile file = file(node);
        if (request.writable()) {
            ensureWritable(file);
            if (!file.is(Trait.WRITABLE)) {
                throw new ErrnoException(Errno.EACCES, file.name() + " is read-only");
            }
        }
        return file.open(request, Nodes.instance(node));
    }

    /**
     * Refuses a change in a read-only mount. The kernel refuses the change too, unless root has remounted the directory as
     * writable.
     */
    private void ensureWritable(MountedFile file) throws ErrnoException {
        if (readOnly) {
            throw new ErrnoException(Errno.EROFS, file.name() + " cannot be changed in a read-only mount");
        }
    }

    /** Returns the value of an extended attribute, or empty if the attribute has no value. */
    public Optional<String> attribute(long node, String name) throws ErrnoException {
        return nodes.entries(node) != null ? fileSystem.attribute(name) : file(node).attribute(name);
    }

    /**
     * Changes an extended attribute.
     *
     * @param flags the flags of setxattr(2)
     * @return false if the name does not begin with {@link MountedFile#ATTRIBUTE_PREFIX}. In this case, the binding replies with
     *     EOPNOTSUPP, which programs that copy attributes ignore
     */
    public boolean setAttribute(long node, String name, String value, int flags) throws IOException {
        if (!name.startsWith(MountedFile.ATTRIBUTE_PREFIX)) {
            return false;
        }
        if ((flags & CREATE_ATTRIBUTE) != 0 && attribute(node, name).isPresent()) {
            throw new ErrnoException(Errno.EEXIST, "the attribute " + name + " already exists");
        }
        if (nodes.entries(node) != null) {
            throw new ErrnoException(Errno.EOPNOTSUPP,
                "attributes of directories cannot be changed; set them on model");
        }
        ensureWritable(file(node));
        file(node).setAttribute(name, value);
        return true;
    }

    /** Returns the names of the extended attributes in the format of listxattr(2): each name ends with a zero byte. */
    public String attributeNames(long node) throws ErrnoException {
        StringBuilder names = new StringBuilder();
        List<String> found = nodes.entries(node) != null ? fileSystem.attributeNames() : file(node).attributeNames();
        found.forEach(name -> names.append(name).append('\0'));
        return names.toString();
    }

    /** Returns the capacity of the file system in blocks of 4096 bytes. */
    public long capacityBlocks() {
        return (fileSystem.capacityBytes() + BLOCK_BYTES - 1) / BLOCK_BYTES;
    }

    /**
     * Serves a truncation. The size of a file never changes, so only two sizes are accepted: the current size, and 0 for an
     * open(2) with O_TRUNC, which clears the file.
     *
     * @param hasHandle whether the request has the handle of an open file, as for ftruncate(2)
     */
    public void truncate(long node, long newSizeBytes, boolean hasHandle, Cancellation cancellation)
        throws IOException {
        MountedFile file = file(node);
        if (newSizeBytes == file.sizeBytes()) {
            return;
        }
        if (!isByOpen(newSizeBytes, hasHandle) || file.is(Trait.MEMORY)) {
            throw new ErrnoException(Errno.EPERM, "the size of " + file.name() + " is fixed at " + file.sizeBytes()
                + " bytes and cannot be changed to " + newSizeBytes);
        }
        ensureWritable(file);
        file.clear(cancellation);
    }

    /**
     * Returns whether a truncation can be from an open with O_TRUNC, as dd and cp use it. For such an open, the kernel sends a
     * truncation to 0 without a handle. The kernel sends the same request for a truncate(2) to 0, so truncate(2) to 0 succeeds
     * too.
     */
    public static boolean isByOpen(long newSizeBytes, boolean hasHandle) {
        return newSizeBytes == 0 && !hasHandle;
    }

    /**
     * Checks a reservation of space by fallocate(2). The space of a file always exists, so a reservation succeeds without effect.
     * If it failed, posix_fallocate(3) would read and write one byte of each block of the file.
     *
     * @param mode the flags of fallocate(2)
     * @return false if the request is not a reservation but, for example, removes a range. Programs ignore the failure of such a
     *     request
     */
    public boolean reserve(long node, int mode, long offset, long lengthBytes) throws ErrnoException {
        MountedFile file = file(node);
        if ((mode & ~KEEP_SIZE) != 0) {
            return false;
        }
        if (offset > file.sizeBytes() - lengthBytes) {
            throw new ErrnoException(Errno.ENOSPC,
                "the size of " + file.name() + " is fixed at " + file.sizeBytes() + " bytes");
        }
        return true;
    }

    /** Returns the exception for a request that would change a directory. */
    public static ErrnoException directoryIsFixed() {
        return new ErrnoException(Errno.EPERM, DIRECTORY_IS_FIXED);
    }

    /** Returns the exception for a request that would change the owner or the mode of a file. */
    public static ErrnoException ownerIsFixed() {
        return new ErrnoException(Errno.EPERM, "owner and mode of files of a modeldisk mount cannot be changed");
    }
}
