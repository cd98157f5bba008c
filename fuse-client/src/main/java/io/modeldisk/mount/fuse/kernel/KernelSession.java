package io.modeldisk.mount.fuse.kernel;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FuseFileSystem;
import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.mount.fuse.HandleTable;
import io.modeldisk.mount.fuse.MemoryFiles;
import io.modeldisk.mount.fuse.Unmounter;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.mount.handover.MountState;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** A session on /dev/fuse, which owns its memory, its descriptors and its threads. Thread-safe. */
final class KernelSession extends FuseSession {
    private static final Logger LOG = LogManager.getLogger(KernelSession.class);
    private static final long POLL_MS = 1;

    private final DataMemory memory;
    private final Arena arena = Arena.ofShared();
    private final HandleTable handles;
    private final Interrupts interrupts;
    private final MemoryFiles memories;
    private final WorkerPool workers;
    private final CompletableFuture<Void> ended;
    /** True if the kernel can resend requests that have no reply. */
    private final boolean resends;

    /**
     * Starts to serve a mounted file system.
     *
     * @param fd the descriptor of /dev/fuse, which the session owns unless this constructor fails
     * @param passthrough whether the kernel is allowed to access memory directly (FUSE passthrough)
     * @param mayResend whether the kernel is allowed to send requests again; ignored if the kernel does not support this
     */
    KernelSession(Path directory, int fd, FuseFileSystem fileSystem, FuseOptions options, Unmounter unmounter,
        boolean passthrough, boolean mayResend) throws IOException {
        super(directory, options, unmounter);
        // The reading threads need slots of their own, because started requests can occupy all other slots.
        int count = Lanes.threads(options.dataRequests()) + FuseOptions.WORKER_THREADS;
        List<RequestSlot> slots = new ArrayList<>(count);
        this.memory = options.memory().apply((long) count * DataRequest.MEMORY_BYTES);
        for (int i = 0; i < count; i++) {
            slots.add(new RequestSlot(arena, memory, (long) i * DataRequest.MEMORY_BYTES));
        }
        Lanes lanes = new Lanes(options.dataRequests(), fileSystem::flush);
        this.interrupts = new Interrupts(slots, lanes, options.clock());
        PollNotifier polls = new PollNotifier(arena, fd);
        try {
            int capabilities = capabilities(slots.getFirst(), fd, mayResend);
            MountState state = options.handover().isKept() ? options.handover().state() : null;
            this.handles = new HandleTable(state);
            this.memories = passthrough && (capabilities & KernelProtocol.PASSTHROUGH) != 0
                ? MemoryFiles.ofKernel(fd)
                : MemoryFiles.links("no FUSE passthrough, which needs Linux 6.9 or later");
            Dispatcher dispatcher = new Dispatcher(fileSystem, options, memories, handles, lanes, interrupts, polls,
                (capabilities & KernelProtocol.ALLOW_MMAP) != 0);
            this.workers = new WorkerPool(fd, slots, options, dispatcher, polls);
            this.ended = workers.ended().thenRun(handles::releaseAll);
            if (state != null) {
                dispatcher.record(state, options.handover().completedRequest());
            }
            this.resends = (capabilities & KernelProtocol.HAS_RESEND) != 0;
            if (options.handover().resumes() && !resends) {
                LOG.warn(
                    "before Linux 6.9, the kernel does not resend requests that were in progress: if the previous process"
                        + " was killed, the processes that have made such requests wait until they are killed");
            } else if (options.handover().resumes()) {
                // This call must precede the first read of a request. Otherwise the kernel would resend a request that a thread
                // is serving.
                polls.resend();
            }
            workers.start();
        } catch (IOException | RuntimeException e) {
            memory.close();
            arena.close();
            throw e;
        }
    }

    /**
     * Returns the capabilities of the session. Negotiates them, unless the previous process has already done so, because the
     * kernel sends INIT only once.
     */
    private int capabilities(RequestSlot slot, int fd, boolean mayResend) throws IOException {
        Handover handover = options.handover();
        if (handover.resumes()) {
            return (int) handover.state().word(MountState.Word.CAPABILITIES);
        }
        int capabilities = shakeHands(slot, fd, options.wholeBlockWrites());
        if (!mayResend) {
            capabilities &= ~KernelProtocol.HAS_RESEND;
        }
        if (handover.isKept()) {
            handover.state().word(MountState.Word.CAPABILITIES, capabilities);
            handover.keep(Handover.DEVICE, fd);
        }
        return capabilities;
    }

    /**
     * Receives INIT, the first request of a session, and replies to it. INIT negotiates the version, the capabilities and the
     * request sizes. Returns those capabilities of the second word that the kernel and modeldisk both support.
     */
    private static int shakeHands(RequestSlot slot, int fd, boolean wholeBlockWrites) throws IOException {
        long length = slot.receive(fd);
        RequestView request = slot.request();
        if (length < 0 || request.opcode() != Opcode.INIT) {
            throw new IOException("the kernel did not start the FUSE session: "
                + (length < 0 ? Errno.nameOf(-length) : "its first opcode is " + request.opcode() + ", not INIT"));
        }
        if (request.major() != KernelProtocol.MAJOR || request.minor() < KernelProtocol.OLDEST_MINOR) {
            slot.replyError(Errno.EPROTO);
            throw new IOException("the kernel has FUSE protocol " + request.major() + "." + request.minor()
                + ", but modeldisk needs "
                + KernelProtocol.MAJOR + "." + KernelProtocol.OLDEST_MINOR + " or a later minor version (Linux 3.15)");
        }
        int agreed = request.capabilities() & KernelProtocol.CAPABILITIES;
        boolean large = (agreed & KernelProtocol.MAX_PAGES) != 0;
        int pages = large ? KernelProtocol.LARGE_PAGES : KernelProtocol.SMALL_PAGES;
        // The kernel splits a write at a limit of bytes and at a limit of pages. Memory that does not start at a page boundary
        // occupies one more page, so a split at the limit of pages can lie within a logical block. With wholeBlockWrites, the
        // limit of bytes is lower, so the kernel reaches this limit first and splits between blocks.
        int maxWriteBytes = (wholeBlockWrites ? pages * 3 / 4 : pages) * KernelProtocol.PAGE_BYTES;
        int more = request.moreCapabilities()
            & (KernelProtocol.PASSTHROUGH | KernelProtocol.ALLOW_MMAP | KernelProtocol.HAS_RESEND);
        slot.body().init(Math.min(request.minor(), KernelProtocol.MINOR), request.maxReadaheadBytes(), agreed, more,
            KernelProtocol.BACKGROUND, maxWriteBytes, large ? pages : 0);
        slot.replyBody();
        return more;
    }

    @Override
    public boolean freeze(Duration graceful) {
        workers.stopReading(this::ask, options.clock().nanoTime() + FuseOptions.CLOSE_TIMEOUT.toNanos());
        if (awaitStopped(graceful)) {
            return true;
        }
        interrupts.freeze(resends);
        return awaitStopped(FuseOptions.CLOSE_TIMEOUT);
    }

    /** Makes the kernel send a request, to wake a thread that waits for one. */
    private void ask() {
        try {
            Files.getFileStore(directory).getTotalSpace();
        } catch (IOException e) {
            LOG.debug("statfs of {} failed: {}", directory, e.toString());
        }
    }

    private boolean awaitStopped(Duration bound) {
        long endNs = options.clock().nanoTime() + bound.toNanos();
        try {
            while (!workers.haveStopped()) {
                if (options.clock().nanoTime() - endNs > 0) {
                    return false;
                }
                options.clock().sleep(POLL_MS, TimeUnit.MILLISECONDS);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public long requestNumber(Cancellation cancellation) {
        return interrupts.unique(cancellation);
    }

    @Override
    public String memoryFiles() {
        return memories.toString();
    }

    @Override
    public CompletableFuture<Void> ended() {
        return ended.copy();
    }

    @Override
    protected void cancelAll() {
        interrupts.interruptAll();
    }

    @Override
    protected void free() {
        memory.close();
        arena.close();
    }
}
