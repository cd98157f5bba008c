package io.modeldisk.mount.fuse;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A session on /dev/fuse, which owns its memory, its descriptors and its threads. Thread-safe. */
final class KernelSession implements FuseSession {
    private final Path directory;
    private final FuseOptions options;
    private final Unmounter unmounter;
    private final DataMemory memory;
    private final Arena arena = Arena.ofShared();
    private final HandleTable handles = new HandleTable();
    private final Interrupts interrupts;
    private final MemoryFiles memories;
    private final WorkerPool workers;
    private final CompletableFuture<Void> ended;
    private boolean closed;

    private KernelSession(Path directory, int fd, FuseFileSystem fileSystem, FuseOptions options, Unmounter unmounter,
        boolean passthrough) throws IOException {
        this.directory = directory;
        this.options = options;
        this.unmounter = unmounter;
        // Each thread has a slot while started requests have others.
        int count = Lanes.threads(options.dataRequests()) + options.workerThreads();
        List<RequestSlot> slots = new ArrayList<>(count);
        this.memory = options.memory().allocate((long) count * DataRequest.MEMORY_BYTES);
        for (int i = 0; i < count; i++) {
            slots.add(new RequestSlot(arena, memory, (long) i * DataRequest.MEMORY_BYTES));
        }
        Lanes lanes = new Lanes(options.dataRequests(), fileSystem::flush);
        this.interrupts = new Interrupts(slots, lanes);
        PollNotifier polls = new PollNotifier(arena, fd);
        try {
            int capabilities = Handshake.perform(slots.getFirst(), fd, options.wholeBlockWrites());
            this.memories = passthrough && (capabilities & KernelProtocol.PASSTHROUGH) != 0
                ? MemoryFiles.ofKernel(fd)
                : MemoryFiles.links("no FUSE passthrough, which needs Linux 6.9 or later");
            Dispatcher dispatcher = new Dispatcher(fileSystem, options, memories, handles, lanes, interrupts, polls,
                (capabilities & KernelProtocol.ALLOW_MMAP) != 0);
            this.workers = new WorkerPool(fd, slots, options, dispatcher, polls);
            this.ended = workers.ended().thenRun(handles::releaseAll);
            workers.start();
        } catch (IOException | RuntimeException e) {
            memory.close();
            arena.close();
            throw e;
        }
    }

    /**
     * Starts to serve a mounted file system.
     *
     * @param fd the descriptor of /dev/fuse; the session owns it when this method has returned
     * @param passthrough whether the kernel may use the memory of files
     */
    static KernelSession serve(Path directory, int fd, FuseFileSystem fileSystem, FuseOptions options,
        Unmounter unmounter, boolean passthrough)
        throws IOException {
        return new KernelSession(directory, fd, fileSystem, options, unmounter, passthrough);
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
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (!ended.isDone()) {
            interrupts.interruptAll();
            unmounter.unmountForGood(directory);
        }
        if (SessionEnd.await(directory, ended, options)) {
            memory.close();
            arena.close();
        }
    }
}
