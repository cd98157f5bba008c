package io.modeldisk.test.disk;

import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.linux.Mounts;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ScopedLock.Held;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * An in-memory file system, mounted with FUSE. At a {@link #crash}, it loses everything that was not synchronized: file data
 * written after the last fsync of the file, and directory entries changed after the last fsync of the directory. A test can also
 * make the file system full or read-only, make it hang, and make fsyncs fail. The mount requires root. Thread-safe.
 */
public final class CrashDisk implements AutoCloseable {
    private static final String DEVICE = "/dev/fuse";
    private static final String TYPE = "fuse.crashdisk";
    private static final long ROOT = 1;

    private final Path directory;
    private final ScopedLock lock = new ScopedLock();
    private Thread server;

    // Guarded by the lock.
    private final Node root = new Node(ROOT, true);
    private final Map<Long, Node> nodes = new HashMap<>();
    private long nextNumber = ROOT + 1;
    private long pages;
    private long capacityBytes = Long.MAX_VALUE;
    private boolean readOnly;
    private int failingSyncs;
    private long syncs;

    private CrashDisk(Path directory) {
        this.directory = directory;
        nodes.put(ROOT, root);
    }

    /** Mounts an empty disk on an existing directory. */
    public static CrashDisk mount(Path directory) throws IOException {
        CrashDisk disk = new CrashDisk(directory);
        disk.start();
        return disk;
    }

    /** Returns the directory on which the disk is mounted. */
    public Path directory() {
        return directory;
    }

    private void start() throws IOException {
        int fd = Descriptors.open(DEVICE, Descriptors.O_RDWR | Descriptors.O_CLOEXEC);
        if (fd < 0) {
            throw new IOException(DEVICE + " cannot be opened: " + Errno.nameOf(-fd));
        }
        int mounted = Mounts.mount("crashdisk", directory.toString(), TYPE, Mounts.MS_NOSUID | Mounts.MS_NODEV,
            "fd=" + fd + ",rootmode=40000,user_id=0,group_id=0,default_permissions");
        if (mounted < 0) {
            Descriptors.close(fd);
            throw new IOException("cannot mount " + directory + ": " + Errno.nameOf(-mounted));
        }
        server = Thread.ofPlatform().daemon().name("crashdisk").start(new Server(this, fd));
    }

    /** Limits the total size of all files. */
    public void capacityBytes(long bytes) {
        locked(() -> capacityBytes = bytes);
    }

    /** Returns the total size of all files. */
    public long usedBytes() {
        try (Held _ = lock.hold()) {
            return pages * Node.PAGE_BYTES;
        }
    }

    /** Makes the disk read-only or writable. A read-only disk refuses all changes with EROFS. */
    public void readOnly(boolean only) {
        locked(() -> readOnly = only);
    }

    /** Makes the next {@code count} fsyncs of files fail with EIO. As on Linux, the data of a failed fsync is lost. */
    public void failSyncs(int count) {
        locked(() -> failingSyncs = count);
    }

    /** Returns the number of successful fsyncs of files so far. */
    public long syncs() {
        try (Held _ = lock.hold()) {
            return syncs;
        }
    }

    /** Loses everything that was not synchronized, and mounts the disk again. No process may use the disk during this call. */
    public void crash() throws IOException {
        crash(null);
    }

    /** Like {@link #crash()}, but a random half of the unsynchronized pages survives. */
    public void crash(long seed) throws IOException {
        crash(new SplittableRandom(seed));
    }

    private void crash(SplittableRandom random) throws IOException {
        close();
        locked(() -> {
            root.crash(random, new HashSet<>());
            nodes.clear();
            pages = 0;
            found(root);
        });
        start();
    }

    private void found(Node node) {
        if (nodes.put(node.number(), node) == null) {
            pages += node.pageCount();
            node.entries().values().forEach(this::found);
        }
    }

    /** Runs an action. During the action, the disk does not respond to any request of the kernel. */
    public void hangWhile(Runnable action) {
        locked(action);
    }

    private void locked(Runnable action) {
        try (Held _ = lock.hold()) {
            action.run();
        }
    }

    ScopedLock lock() {
        return lock;
    }

    Node node(long number) {
        return nodes.get(number);
    }

    Node create(Node parent, String name, boolean isDirectory) throws DiskException {
        checkWritable();
        if (parent.entries().containsKey(name)) {
            throw new DiskException(DiskException.EEXIST);
        }
        Node node = new Node(nextNumber++, isDirectory);
        nodes.put(node.number(), node);
        parent.entries().put(name, node);
        return node;
    }

    void write(Node node, long offset, byte[] data) throws DiskException {
        checkWritable();
        int added = node.newPages(offset, data.length);
        if (added > 0 && (pages + added) > capacityBytes / Node.PAGE_BYTES) {
            throw new DiskException(Errno.ENOSPC.number());
        }
        pages += added;
        node.write(offset, data);
    }

    void truncate(Node node, long sizeBytes) throws DiskException {
        checkWritable();
        pages -= node.pageCount();
        node.truncate(sizeBytes);
        pages += node.pageCount();
    }

    void remove(Node parent, String name) throws DiskException {
        checkWritable();
        Node node = parent.entries().get(name);
        if (node == null) {
            throw new DiskException(Errno.ENOENT.number());
        }
        if (!node.entries().isEmpty()) {
            throw new DiskException(DiskException.ENOTEMPTY);
        }
        parent.entries().remove(name);
        pages -= node.pageCount();
    }

    void rename(Node parent, String name, Node newParent, String newName) throws DiskException {
        checkWritable();
        Node node = parent.entries().get(name);
        if (node == null) {
            throw new DiskException(Errno.ENOENT.number());
        }
        if (newParent.entries().containsKey(newName)) {
            remove(newParent, newName);
        }
        parent.entries().remove(name);
        newParent.entries().put(newName, node);
    }

    void sync(Node node) throws DiskException {
        if (!node.isDirectory() && failingSyncs > 0) {
            failingSyncs--;
            node.failSync();
            throw new DiskException(Errno.EIO.number());
        }
        checkWritable();
        node.sync();
        syncs += node.isDirectory() ? 0 : 1;
    }

    private void checkWritable() throws DiskException {
        if (readOnly) {
            throw new DiskException(DiskException.EROFS);
        }
    }

    long freePages() {
        return Math.min(capacityBytes, 1L << 40) / Node.PAGE_BYTES - pages;
    }

    /** Unmounts the disk. */
    @Override
    public void close() throws IOException {
        int unmounted = Mounts.unmount(directory.toString(), Mounts.MNT_FORCE | Mounts.MNT_DETACH);
        if (unmounted < 0) {
            throw new IOException("cannot unmount " + directory + ": " + Errno.nameOf(-unmounted));
        }
        try {
            server.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the thread was interrupted while it waited for the disk's server thread to stop", e);
        }
    }
}
