package io.modeldisk.mount.fuse.jnr;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.fuse.FailureLog;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.FileTree;
import io.modeldisk.mount.fuse.FuseFileSystem;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.HandleTable;
import io.modeldisk.mount.fuse.MemoryFiles;
import io.modeldisk.mount.fuse.MountedFile.Trait;
import io.modeldisk.mount.fuse.Nodes;
import io.modeldisk.mount.fuse.OpenRequest;
import io.modeldisk.mount.fuse.PollWakeup;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.function.IoConsumer;
import io.modeldisk.platform.function.IoFunction;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Struct;
import jnr.ffi.byref.IntByReference;
import jnr.ffi.byref.PointerByReference;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.FuseOperations;
import ru.serce.jnrfuse.struct.FusePollhandle;
import ru.serce.jnrfuse.struct.Statvfs;
import ru.serce.jnrfuse.struct.Timespec;

/**
 * Translates each call of libfuse 2 into a call of a file or a handle, and the result or exception into a result for libfuse: 0,
 * a number of bytes, or a negative error number. libfuse starts a thread for each request if no thread is free. Thread-safe.
 */
final class JnrFileSystem extends FuseStubFS {
    /** The maximum length of a read or a write in libfuse 2. */
    static final int MAX_REQUEST_BYTES = 128 << 10;

    /** The number of requests for generated files that the memory must hold, in addition to the data requests. */
    static final int TEXT_REQUESTS = 2;

    /**
     * flag_nullpath_ok and flag_nopath: libfuse passes no path for a call with a handle. Without these flags, libfuse would hold
     * a lock on the path while a read waits for the shards. As soon as root tried to remove the file, all calls would then wait.
     */
    private static final int NO_PATHS = 1 | 1 << 1;

    /** The offset of the flags in {@code struct fuse_operations}: they follow the 38 pointers from getattr to bmap. */
    private static final int FLAGS_OFFSET = 38 * Long.BYTES;

    /**
     * The number of bits for the node number in the file handle that libfuse stores for an open file. The upper bits are the
     * handle number.
     */
    private static final int NODE_BITS = Nodes.BITS;

    private static final int ACCESS_MODE = 3;
    private static final int BLOCK_BYTES = 4096;

    /**
     * The parts of fuse_main, which jnr-fuse offers only as a whole. They are called separately, because wake-ups must end
     * between serve and teardown. The interface is public because jnr-ffi implements it with another class loader.
     */
    public interface Session {
        /**
         * Mounts, and stores in {@code threaded} whether to use several threads. Returns the session, or null after a failure.
         */
        Pointer setup(int argumentCount, String[] arguments, FuseOperations operations, long operationsBytes,
            PointerByReference mountPoint, IntByReference threaded, Pointer userData);

        /** Serves requests with several threads until the directory is unmounted. Returns 0, or -1 after a failure. */
        int serve(Pointer fuse);

        /** Unmounts, and frees the session and the mount point. */
        void teardown(Pointer fuse, Pointer mountPoint);
    }

    /** Reads or writes a file with the memory of a request. */
    @FunctionalInterface
    private interface Transfer {
        /** Returns the result for libfuse. */
        int run(FileHandle handle, JnrRequest request) throws IOException;
    }

    private final NanoClock clock;
    private final FileTree tree;
    private final FailureLog failures;
    private final HandleTable handles = new HandleTable(null);
    private final BlockingQueue<JnrRequest> free;
    /** The free requests for generated files. These files can be read even while all data requests wait for the shards. */
    private final BlockingQueue<JnrRequest> freeForTexts = new ArrayBlockingQueue<>(TEXT_REQUESTS);
    private final Set<Cancellation> inProgress = ConcurrentHashMap.newKeySet();
    private final Session session = LibraryLoader.create(Session.class).failImmediately()
        .map("setup", "fuse_setup").map("serve", "fuse_loop_mt").map("teardown", "fuse_teardown")
        .load(JnrBinding.LIBRARY);
    private final JnrWakeups wakeups = new JnrWakeups(libFuse);
    private final CompletableFuture<Void> started = new CompletableFuture<>();
    private volatile boolean closing;

    /** Creates a file system. {@code memory} is the memory for reads and writes. */
    JnrFileSystem(FuseFileSystem fileSystem, FuseOptions options, MemoryFiles memories, DataMemory memory) {
        Struct.getMemory(fuseOperations).putInt(FLAGS_OFFSET, NO_PATHS);
        this.clock = options.clock();
        this.tree = new FileTree(fileSystem, options, memories);
        this.failures = new FailureLog(clock, fileSystem::errno);
        this.free = new ArrayBlockingQueue<>(options.dataRequests());
        for (int i = 0; i < options.dataRequests(); i++) {
            free.add(new JnrRequest(memory, (long) i * DataRequest.MEMORY_BYTES));
        }
        for (int i = 0; i < TEXT_REQUESTS; i++) {
            freeForTexts.add(new JnrRequest(memory, (long) (options.dataRequests() + i) * DataRequest.MEMORY_BYTES));
        }
    }

    /** Mounts with these arguments, and serves requests until the directory is unmounted. Returns 0 after an unmount. */
    int run(String... arguments) {
        PointerByReference mountPoint = new PointerByReference();
        Pointer fuse = session.setup(arguments.length, arguments, fuseOperations, Struct.size(fuseOperations),
            mountPoint, new IntByReference(), null);
        if (fuse == null) {
            return 1;
        }
        int result = session.serve(fuse);
        // The wake-ups end here and not in destroy(), because libfuse calls destroy() only after it has freed the channel that a
        // wake-up needs.
        wakeups.close();
        session.teardown(fuse, mountPoint.getValue());
        return result;
    }

    /** Returns a future that completes when the directory is mounted. */
    CompletableFuture<Void> started() {
        return started;
    }

    /** Cancels all requests in progress and all later requests. */
    void cancelAll() {
        closing = true;
        wakeups.close();
        inProgress.forEach(Cancellation::cancel);
    }

    /** Releases all handles. This method is called after the unmount. */
    void releaseAll() {
        handles.releaseAll();
    }

    /** Serves a request with {@code work}, which returns the result for libfuse. */
    private int serve(Supplier<String> what, IoFunction<Cancellation, Integer> work) {
        Cancellation cancellation = new Cancellation();
        inProgress.add(cancellation);
        try {
            if (closing) {
                cancellation.cancel();
            }
            return work.apply(cancellation);
        } catch (Throwable e) {
            // An exception that reached libfuse would end the process.
            return -failures.answerTo(what, e, cancellation.isCancelled()).number();
        } finally {
            inProgress.remove(cancellation);
        }
    }

    /** Serves a request that returns only whether it has succeeded. */
    private int act(Supplier<String> what, IoConsumer<Cancellation> work) {
        return serve(what, cancellation -> {
            work.accept(cancellation);
            return 0;
        });
    }

    private int transfer(Pointer buffer, long sizeBytes, FuseFileInfo info, Cancellation cancellation,
        Transfer transfer)
        throws IOException {
        FileHandle handle = handle(info);
        BlockingQueue<JnrRequest> pool = tree.file(node(info)).is(Trait.WAITS_AT_OPEN) ? freeForTexts : free;
        JnrRequest request;
        try {
            request = pool.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ErrnoException(Errno.EINTR, "the thread of a request was interrupted", e);
        }
        try {
            request.begin(buffer, (int) Math.min(sizeBytes, MAX_REQUEST_BYTES), cancellation);
            return transfer.run(handle, request);
        } finally {
            pool.add(request);
        }
    }

    private FileHandle handle(FuseFileInfo info) throws ErrnoException {
        return handles.handle(info.fh.longValue() >> NODE_BITS);
    }

    private static long node(FuseFileInfo info) {
        return info.fh.longValue() & (1 << NODE_BITS) - 1;
    }

    private String name(FuseFileInfo info) {
        return tree.nodes().file(node(info)).name();
    }

    @Override
    public int read(String path, Pointer buffer, long sizeBytes, long offset, FuseFileInfo info) {
        return serve(() -> "read of " + name(info) + " at byte " + offset,
            cancellation -> transfer(buffer, sizeBytes, info, cancellation, (handle, request) -> {
                handle.read(offset, (int) Math.min(sizeBytes, MAX_REQUEST_BYTES), request);
                return request.repliedBytes();
            }));
    }

    @Override
    public int write(String path, Pointer buffer, long sizeBytes, long offset, FuseFileInfo info) {
        return serve(() -> "write of " + sizeBytes + " bytes to " + name(info) + " at byte " + offset,
            cancellation -> transfer(buffer, sizeBytes, info, cancellation, (handle, request) -> {
                request.load();
                return handle.write(offset, (int) Math.min(sizeBytes, MAX_REQUEST_BYTES), request);
            }));
    }

    @Override
    public int fsync(String path, int onlyData, FuseFileInfo info) {
        return act(() -> "fsync of " + name(info),
            cancellation -> handle(info).synchronize(cancellation));
    }

    @Override
    public int flush(String path, FuseFileInfo info) {
        return act(() -> "close of " + name(info),
            cancellation -> handle(info).flush(cancellation));
    }

    @Override
    public int poll(String path, FuseFileInfo info, FusePollhandle waiting, Pointer events) {
        return act(() -> "poll of " + name(info), cancellation -> {
            PollWakeup wakeup = waiting == null || Struct.getMemory(waiting).address() == 0
                ? null
                : wakeups.of(waiting);
            events.putInt(0, handle(info).poll(wakeup));
        });
    }

    @Override
    public int open(String path, FuseFileInfo info) {
        return act(() -> "open of " + path, cancellation -> {
            boolean writable = (info.flags.intValue() & ACCESS_MODE) != 0;
            long node = tree.node(path);
            OpenRequest request = new OpenRequest(writable, getContext().pid.intValue(), clock.nanoTime(),
                cancellation);
            info.fh.set(handles.add(tree.open(node, request), node, writable, 0) << NODE_BITS | node);
        });
    }

    @Override
    public int release(String path, FuseFileInfo info) {
        return act(() -> "release of " + name(info), cancellation -> {
            FileHandle handle = handles.remove(info.fh.longValue() >> NODE_BITS);
            if (handle != null) {
                handle.release();
            }
        });
    }

    @Override
    public int getattr(String path, FileStat stat) {
        return act(() -> "stat of " + path, cancellation -> {
            FileTree.Attributes attributes = tree.attributes(tree.node(path));
            stat.st_mode.set(attributes.mode());
            stat.st_nlink.set(1);
            stat.st_size.set(attributes.sizeBytes());
            stat.st_blocks.set((attributes.sizeBytes() + 511) / 512);
            stat.st_blksize.set(BLOCK_BYTES);
            stat.st_uid.set(attributes.access().userId());
            stat.st_gid.set(attributes.access().groupId());
            for (Timespec time : new Timespec[]{stat.st_atim, stat.st_mtim, stat.st_ctim}) {
                time.tv_sec.set(attributes.modifiedMs() / 1000);
                time.tv_nsec.set(attributes.modifiedMs() % 1000 * 1_000_000);
            }
        });
    }

    @Override
    public int readlink(String path, Pointer buffer, long sizeBytes) {
        return act(() -> "readlink of " + path, cancellation -> {
            byte[] target = MemoryFiles.target(tree.link(tree.node(path)).memory(cancellation));
            int length = (int) Math.min(target.length, sizeBytes - 1);
            buffer.put(0, target, 0, length);
            buffer.putByte(length, (byte) 0);
        });
    }

    @Override
    public int opendir(String path, FuseFileInfo info) {
        return act(() -> "opendir of " + path,
            cancellation -> info.fh.set(tree.node(path)));
    }

    @Override
    public int readdir(String path, Pointer buffer, FuseFillDir filler, long offset, FuseFileInfo info) {
        return act(() -> "readdir", cancellation -> {
            filler.apply(buffer, ".", null, 0);
            filler.apply(buffer, "..", null, 0);
            for (Nodes.Entry entry : tree.directory(node(info))) {
                filler.apply(buffer, entry.name(), null, 0);
            }
        });
    }

    @Override
    public int statfs(String path, Statvfs statistics) {
        return act(() -> "statfs of " + path, cancellation -> {
            statistics.f_bsize.set(BLOCK_BYTES);
            statistics.f_frsize.set(BLOCK_BYTES);
            statistics.f_blocks.set(tree.capacityBlocks());
            statistics.f_files.set(tree.nodes().fileCount());
            statistics.f_namemax.set(FileTree.MAX_NAME_BYTES);
        });
    }

    @Override
    public int getxattr(String path, String name, Pointer value, long sizeBytes) {
        return serve(() -> "getxattr of " + path, cancellation -> {
            Optional<String> text = tree.attribute(tree.node(path), name);
            return text.isEmpty() ? -Errno.ENODATA.number() : put(text.get(), value, sizeBytes);
        });
    }

    @Override
    public int listxattr(String path, Pointer list, long sizeBytes) {
        return serve(() -> "listxattr of " + path,
            cancellation -> put(tree.attributeNames(tree.node(path)), list, sizeBytes));
    }

    /**
     * Copies a text into a buffer, unless the size of the buffer is 0. Returns the length of the text, or the negative error
     * number ERANGE.
     */
    private static int put(String text, Pointer buffer, long sizeBytes) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (sizeBytes > 0 && bytes.length > sizeBytes) {
            return -Errno.ERANGE.number();
        }
        if (sizeBytes > 0) {
            buffer.put(0, bytes, 0, bytes.length);
        }
        return bytes.length;
    }

    @Override
    public int truncate(String path, long sizeBytes) {
        return act(() -> "truncation of " + path,
            cancellation -> tree.truncate(tree.node(path), sizeBytes, false, cancellation));
    }

    @Override
    public int ftruncate(String path, long sizeBytes, FuseFileInfo info) {
        return act(() -> "truncation of " + name(info),
            cancellation -> tree.truncate(node(info), sizeBytes, true, cancellation));
    }

    @Override
    public int utimens(String path, Timespec[] times) {
        // A change of times succeeds without effect, because otherwise touch(1) and cp -p would fail.
        return 0;
    }

    @Override
    public int chmod(String path, long mode) {
        return serve(() -> "chmod of " + path, cancellation -> {
            throw FileTree.ownerIsFixed();
        });
    }

    @Override
    public int chown(String path, long userId, long groupId) {
        return chmod(path, 0);
    }

    private int refused(String what, String path) {
        return serve(() -> what + " of " + path, cancellation -> {
            throw FileTree.directoryIsFixed();
        });
    }

    @Override
    public int create(String path, long mode, FuseFileInfo info) {
        return refused("create", path);
    }

    @Override
    public int mknod(String path, long mode, long device) {
        return refused("mknod", path);
    }

    @Override
    public int mkdir(String path, long mode) {
        return refused("mkdir", path);
    }

    @Override
    public int rmdir(String path) {
        return refused("rmdir", path);
    }

    @Override
    public int unlink(String path) {
        return refused("unlink", path);
    }

    @Override
    public int symlink(String target, String path) {
        return refused("symlink", path);
    }

    @Override
    public int link(String from, String to) {
        return refused("link", from);
    }

    @Override
    public int rename(String from, String to) {
        return refused("rename", from);
    }

    @Override
    public int setxattr(String path, String name, Pointer value, long sizeBytes, int flags) {
        return serve(() -> "setxattr of " + path, cancellation -> {
            byte[] text = new byte[(int) sizeBytes];
            value.get(0, text, 0, text.length);
            return supported(
                tree.setAttribute(tree.node(path), name, new String(text, StandardCharsets.UTF_8), flags));
        });
    }

    @Override
    public int removexattr(String path, String name) {
        return -Errno.EOPNOTSUPP.number();
    }

    @Override
    public int fallocate(String path, int mode, long offset, long lengthBytes, FuseFileInfo info) {
        return serve(() -> "fallocate of " + name(info),
            cancellation -> supported(tree.reserve(node(info), mode, offset, lengthBytes)));
    }

    private static int supported(boolean supported) {
        return supported ? 0 : -Errno.EOPNOTSUPP.number();
    }

    @Override
    public Pointer init(Pointer connection) {
        started.complete(null);
        return null;
    }
}
