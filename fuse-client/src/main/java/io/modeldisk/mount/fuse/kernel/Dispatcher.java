package io.modeldisk.mount.fuse.kernel;

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
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.fuse.Nodes;
import io.modeldisk.mount.fuse.OpenRequest;
import io.modeldisk.mount.fuse.PollWakeup;
import io.modeldisk.mount.handover.MountState;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Translates each request into a call of a file or a handle, and the result or exception into a reply. Thread-safe. */
final class Dispatcher {
    private static final Logger LOG = LogManager.getLogger(Dispatcher.class);
    private static final int ACCESS_MODE = 3;

    private final NanoClock clock;
    private final FileTree tree;
    private final Nodes nodes;
    private final MemoryFiles memories;
    private final HandleTable handles;
    private final Interrupts interrupts;
    private final FailureLog failures;
    private final Lanes lanes;
    private final boolean mapsFiles;
    private final PollNotifier polls;
    private final Runnable flush;
    /** The number of the instance that the last lookup of a {@link Trait#CONSTANT_WHILE_OPEN} file has returned. */
    private final AtomicLong instances = new AtomicLong();
    /** The pool to which the slots of started requests return. Set before the first request. */
    private SlotPool slots;
    /** The saved state; null if the mount ends with its process. */
    private MountState state;
    /** The number of the last fsync that the previous process has completed, possibly without a reply; 0 if there is none. */
    private long completed;

    /** Creates a dispatcher. If {@code mapsFiles} is true, the kernel lets processes map files that are not memory. */
    Dispatcher(FuseFileSystem fileSystem, FuseOptions options, MemoryFiles memories, HandleTable handles, Lanes lanes,
        Interrupts interrupts, PollNotifier polls, boolean mapsFiles) {
        this.mapsFiles = mapsFiles;
        this.polls = polls;
        this.flush = fileSystem::flush;
        this.memories = memories;
        this.clock = options.clock();
        this.tree = new FileTree(fileSystem, options, memories);
        this.nodes = tree.nodes();
        this.failures = new FailureLog(clock, fileSystem::errno);
        this.handles = handles;
        this.lanes = lanes;
        this.interrupts = interrupts;
    }

    /**
     * Registers this object to end the started requests of these slots, and to return the slots to the pool. Must be called
     * before the first request.
     */
    void endStarted(List<RequestSlot> all, SlotPool pool) {
        slots = pool;
        all.forEach(slot -> slot.onEnd(this::end));
    }

    /**
     * Records open files in the saved state from now on, and takes over the files that the previous process has recorded. Must be
     * called before the first request.
     *
     * @param lastFsync the number of the last fsync that the previous process has completed, possibly without a reply
     */
    void record(MountState recorded, long lastFsync) throws IOException {
        state = recorded;
        completed = lastFsync;
        instances.set(recorded.word(MountState.Word.INSTANCES));
        memories.record(recorded, nodes);
        recorded.forEachFile((number, node, writable, poll) -> {
            handles.restore(number, resumed(node, writable));
            if (poll != 0) {
                polls.wake(poll);
            }
        });
    }

    private FileHandle resumed(long node, boolean writable) {
        try {
            return tree.file(node).resume(writable);
        } catch (IOException e) {
            LOG.warn("an open file cannot be used after the restart: {}", e.getMessage());
            return new HandleTable.Lost(e.getMessage());
        }
    }

    /** Sends the commands that started requests have held back. */
    void flush() {
        flush.run();
    }

    /**
     * Serves the request in this slot. If the limit for requests of this kind is reached, parks the request instead. A thread
     * that has served a request then serves the parked requests of the same kind. Throws no exception.
     *
     * @return true if the slot is free again; false if the request was started and its end will return the slot to the pool
     */
    boolean serve(RequestSlot slot) {
        RequestKind kind = kind(slot.request());
        Lane lane = lanes.of(kind);
        if (lane == null) {
            return serveNow(slot);
        }
        if (kind == RequestKind.VERSION) {
            slot.arrived(clock.nanoTime());
        }
        long unique = slot.request().unique();
        if (!lane.enter(slot)) {
            parked(unique, slot);
            if (!lane.next(slot)) {
                return true;
            }
        }
        return serveAdmitted(slot, lane);
    }

    private boolean serveAdmitted(RequestSlot slot, Lane lane) {
        do {
            boolean ended = true;
            try {
                ended = serveNow(slot);
            } finally {
                if (ended) {
                    lane.leave();
                }
            }
            if (!ended) {
                return false;
            }
        } while (lane.next(slot));
        return true;
    }

    /** Ends a request that was started. */
    private void end(RequestSlot slot, DataRequest.Ending ending) {
        Lane lane = lanes.of(kind(slot.request()));
        try {
            int bytes = ending.run();
            if (!slot.isReplied()) {
                slot.body().size(bytes);
                slot.replyBody();
            }
        } catch (IOException | RuntimeException | Error e) {
            answer(slot, failures.answerTo(() -> what(slot), e, slot.cancellation().isCancelled()));
        } finally {
            interrupts.end(slot);
            lane.leave();
            if (lane.next(slot)) {
                // A new thread serves the parked request, because this request can wait for the shards. The calling thread must
                // not wait: it receives the responses of the shards.
                ThreadName.PARKED.builder().start(() -> serveParked(slot, lane));
            } else {
                slots.giveBack(slot);
            }
        }
    }

    private void serveParked(RequestSlot slot, Lane lane) {
        if (serveAdmitted(slot, lane)) {
            slots.giveBack(slot);
        } else {
            flush();
        }
    }

    private void parked(long unique, RequestSlot slot) {
        try {
            interrupts.parked(unique, slot);
        } catch (IOException e) {
            failures.notSent("the reply " + Errno.EINTR + " to an interrupted request", e);
        }
    }

    private RequestKind kind(RequestView request) {
        return RequestKind.of(request, nodes.file(request.node()));
    }

    /** Serves or starts the request in this slot. Returns false if the request was started. */
    private boolean serveNow(RequestSlot slot) {
        if (!interrupts.begin(slot)) {
            answer(slot, Errno.EINTR);
            return true;
        }
        boolean started = false;
        try {
            if (slot.request().isChange()) {
                interrupts.awaitAbandoned(slot.request().node(), slot.cancellation());
            }
            started = start(slot);
            if (!started) {
                // This request might wait for requests that this thread has started, so the commands of those requests are sent
                // first.
                flush();
                dispatch(slot);
            }
        } catch (IOException | RuntimeException | Error e) {
            answer(slot, failures.answerTo(() -> what(slot), e, slot.cancellation().isCancelled()));
        } finally {
            if (!started) {
                interrupts.end(slot);
            }
        }
        return !started;
    }

    private boolean start(RequestSlot slot) throws IOException {
        RequestView request = slot.request();
        return switch (request.opcode()) {
            case Opcode.READ -> handles.handle(request.handle()).startRead(request.offset(), request.sizeBytes(), slot);
            case Opcode.WRITE -> !request.isWriteBack()
                && handles.handle(request.handle()).startWrite(request.offset(), request.sizeBytes(), slot);
            default -> false;
        };
    }

    private void answer(RequestSlot slot, Errno errno) {
        if (slot.isReplied() || interrupts.isLeft(slot)) {
            return;
        }
        try {
            slot.replyError(errno);
        } catch (IOException e) {
            failures.notSent("the error reply " + errno, e);
        }
    }

    private void dispatch(RequestSlot slot) throws IOException {
        RequestView request = slot.request();
        switch (request.opcode()) {
            case Opcode.READ -> read(slot, request);
            case Opcode.WRITE -> write(slot, request);
            case Opcode.FSYNC -> synchronize(slot, request);
            case Opcode.INTERRUPT -> interrupts.interrupt(request.interruptedUnique(), slot);
            case Opcode.FORGET, Opcode.BATCH_FORGET -> {
                // The kernel expects no reply to FORGET. There is nothing to do, because nodes are never removed.
            }
            case Opcode.LOOKUP -> lookup(slot, request);
            case Opcode.GETATTR -> attributes(slot, request.node());
            case Opcode.SETATTR -> setAttributes(slot, request);
            case Opcode.OPEN -> open(slot, request);
            case Opcode.READLINK -> {
                slot.body().bytes(MemoryFiles.target(tree.link(request.node()).memory(slot.cancellation())));
                slot.replyBody();
            }
            case Opcode.FLUSH -> {
                if (!tree.file(request.node()).is(Trait.MEMORY)) {
                    handles.handle(request.handle()).flush(slot.cancellation());
                }
                slot.replyBody();
            }
            case Opcode.RELEASE -> release(slot, request);
            case Opcode.OPENDIR -> {
                slot.body().open(0, 0);
                slot.replyBody();
            }
            case Opcode.READDIR -> readDirectory(slot, request);
            case Opcode.STATFS -> {
                slot.body().statistics(tree.capacityBlocks(), nodes.fileCount());
                slot.replyBody();
            }
            case Opcode.LISTXATTR -> replyWithin(slot, request.roomBytes(), tree.attributeNames(request.node()));
            case Opcode.RELEASEDIR, Opcode.FSYNCDIR, Opcode.ACCESS, Opcode.DESTROY -> slot.replyBody();
            case Opcode.GETXATTR -> attribute(slot, request);
            case Opcode.SETXATTR -> replyIf(slot, tree.setAttribute(request.node(), request.newAttributeName(),
                request.newAttributeValue(), request.newAttributeFlags()));
            case Opcode.REMOVEXATTR -> answer(slot, Errno.EOPNOTSUPP);
            case Opcode.POLL -> poll(slot, request);
            case Opcode.FALLOCATE -> replyIf(slot,
                tree.reserve(request.node(), request.rangeMode(), request.offset(), request.rangeBytes()));
            case Opcode.CREATE, Opcode.MKNOD, Opcode.MKDIR, Opcode.SYMLINK, Opcode.LINK, Opcode.UNLINK, Opcode.RMDIR,
                Opcode.RENAME, Opcode.RENAME2, Opcode.TMPFILE ->
                throw FileTree.directoryIsFixed();
            case Opcode.INIT -> throw new ErrnoException(Errno.EPROTO, "the kernel sent FUSE INIT twice on one mount");
            default -> answer(slot, Errno.ENOSYS);
        }
    }

    private void replyIf(RequestSlot slot, boolean supported) throws IOException {
        if (supported) {
            slot.replyBody();
        } else {
            answer(slot, Errno.EOPNOTSUPP);
        }
    }

    private void read(RequestSlot slot, RequestView request) throws IOException {
        handles.handle(request.handle()).read(request.offset(), request.sizeBytes(), slot);
        if (!slot.isReplied()) {
            slot.replyBody();
        }
    }

    private void synchronize(RequestSlot slot, RequestView request) throws IOException {
        boolean isCompleted = completed != 0 && request.unique() == (completed | KernelProtocol.RESENT);
        if (!isCompleted && !tree.file(request.node()).is(Trait.MEMORY)) {
            try {
                handles.handle(request.handle()).synchronize(slot.cancellation());
            } finally {
                invalidateMaps(slot);
            }
        }
        slot.replyBody();
    }

    /** Makes the kernel discard the cached pages of all files with weights, so maps show the current weights. */
    private void invalidateMaps(RequestSlot slot) {
        try {
            for (int i = 0; mapsFiles && i < nodes.fileCount(); i++) {
                long node = Nodes.FIRST_FILE_NODE + i;
                if (nodes.file(node).is(Trait.WEIGHTS)) {
                    slot.notifyInvalid(node);
                }
            }
        } catch (IOException e) {
            failures.notSent("the notification that mapped pages are outdated", e);
        }
    }

    private void write(RequestSlot slot, RequestView request) throws IOException {
        if (request.isWriteBack() && !tree.file(request.node()).is(Trait.WRITABLE_BY_MAP)) {
            throw new ErrnoException(Errno.EIO, "pages of a map of " + tree.file(request.node()).name()
                + " cannot be written back as a gradient: write the gradient with write(2), or map mapped/gradient.N");
        }
        slot.body().size(handles.handle(request.handle()).write(request.offset(), request.sizeBytes(), slot));
        slot.replyBody();
    }

    private void lookup(RequestSlot slot, RequestView request) throws IOException {
        long found = tree.find(request.node(), request.name());
        MountedFile file = nodes.file(found);
        boolean ownInode = file != null && file.is(Trait.CONSTANT_WHILE_OPEN);
        long node = ownInode ? Nodes.withInstance(found, nextInstance()) : found;
        slot.body().entry(node, !ownInode);
        slot.body().attributes(node, tree.attributes(node));
        slot.replyBody();
    }

    private long nextInstance() {
        long next = instances.incrementAndGet();
        if (state != null) {
            state.word(MountState.Word.INSTANCES, next);
        }
        return next;
    }

    private void attributes(RequestSlot slot, long node) throws IOException {
        slot.body().attributesHeader();
        slot.body().attributes(node, tree.attributes(node));
        slot.replyBody();
    }

    private void setAttributes(RequestSlot slot, RequestView request) throws IOException {
        if ((request.validAttributes() & KernelProtocol.OWNER_ATTRIBUTES) != 0) {
            throw FileTree.ownerIsFixed();
        }
        if (request.changesSize()) {
            tree.truncate(request.node(), request.newSizeBytes(), request.hasHandle(), slot.cancellation());
        }
        // A change of times succeeds without effect, because otherwise touch(1) and cp -p would fail.
        attributes(slot, request.node());
    }

    private void open(RequestSlot slot, RequestView request) throws IOException {
        MountedFile file = tree.file(request.node());
        if (file.is(Trait.MEMORY)) {
            slot.body().openMemory(memories.opened(request.node(), file.memory(slot.cancellation())));
            slot.replyBody();
            if (slot.isRefused()) {
                memories.released(request.node());
            }
            return;
        }
        boolean writable = (request.openFlags() & ACCESS_MODE) != 0;
        long unique = request.unique() & ~KernelProtocol.RESENT;
        // The previous process might have opened the file and been killed before it replied.
        long handle = state != null && unique != request.unique() ? state.openedBy(unique) : -1;
        if (handle < 0) {
            OpenRequest open = new OpenRequest(writable, request.threadId(), slot.arrivedNs(), slot.cancellation());
            handle = handles.add(tree.open(request.node(), open), request.node(), writable, unique);
        }
        // Constant content is allowed in the page cache, so processes can map such a file on every kernel.
        slot.body().open(handle, file.is(Trait.CONSTANT_WHILE_OPEN) ? 0 : KernelProtocol.OPEN_FLAGS);
        slot.replyBody();
        if (slot.isRefused()) {
            // The process was interrupted, so the kernel has no open file and will send no release.
            release(handle);
        }
    }

    private void poll(RequestSlot slot, RequestView request) throws IOException {
        int events = FileHandle.ALWAYS_READY;
        if (!tree.file(request.node()).is(Trait.MEMORY)) {
            PollWakeup wakeup = request.pollWaits() ? polls.wakeup(request.pollNumber()) : null;
            events = handles.handle(request.handle()).poll(wakeup);
            if (state != null && wakeup != null) {
                state.polled(request.handle(), request.pollNumber());
            }
        }
        slot.body().events(events);
        slot.replyBody();
    }

    private void release(RequestSlot slot, RequestView request) throws IOException {
        if (tree.file(request.node()).is(Trait.MEMORY)) {
            memories.released(request.node());
        } else {
            release(request.handle());
        }
        slot.replyBody();
    }

    private void release(long number) {
        FileHandle handle = handles.remove(number);
        if (handle != null) {
            handle.release();
        }
    }

    private void readDirectory(RequestSlot slot, RequestView request) throws IOException {
        List<Nodes.Entry> entries = tree.directory(request.node());
        boolean fits = true;
        for (long at = request.offset(); fits && at < entries.size() + 2L; at++) {
            Nodes.Entry entry = switch ((int) at) {
                case 0 -> new Nodes.Entry(".", request.node());
                // All subdirectories are in the root.
                case 1 -> new Nodes.Entry("..", Nodes.ROOT_NODE);
                default -> entries.get((int) at - 2);
            };
            fits = slot.body().directoryEntry(entry.node(), at + 1, tree.type(entry.node()),
                entry.name().getBytes(StandardCharsets.UTF_8), request.sizeBytes());
        }
        slot.replyBody();
    }

    private void attribute(RequestSlot slot, RequestView request) throws IOException {
        Optional<String> value = tree.attribute(request.node(), request.attributeName());
        if (value.isEmpty()) {
            // The kernel requests a security attribute before every write. A direct reply is faster than an exception.
            answer(slot, Errno.ENODATA);
        } else {
            replyWithin(slot, request.roomBytes(), value.get());
        }
    }

    /** Replies with the text, or only with its length if the buffer of the process has size 0. */
    private void replyWithin(RequestSlot slot, int roomBytes, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (roomBytes == 0) {
            slot.body().size(bytes.length);
        } else if (bytes.length > roomBytes) {
            answer(slot, Errno.ERANGE);
            return;
        } else {
            slot.body().bytes(bytes);
        }
        slot.replyBody();
    }

    private String what(RequestSlot slot) {
        RequestView request = slot.request();
        MountedFile file = nodes.file(request.node());
        String name = file != null ? file.name() : "a directory";
        return switch (request.opcode()) {
            case Opcode.READ -> "read of " + name + " at byte " + request.offset();
            case Opcode.WRITE ->
                "write of " + request.sizeBytes() + " bytes to " + name + " at byte " + request.offset();
            case Opcode.FSYNC -> "fsync of " + name;
            case Opcode.OPEN -> "open of " + name;
            case Opcode.FLUSH -> "close of " + name;
            case Opcode.RELEASE -> "release of " + name;
            case Opcode.SETXATTR -> "a change of an extended attribute of " + name;
            case Opcode.SETATTR -> "a change of the size, the owner or the mode of " + name;
            case Opcode.FALLOCATE -> "fallocate of " + name;
            case Opcode.CREATE, Opcode.MKNOD, Opcode.MKDIR, Opcode.SYMLINK, Opcode.LINK, Opcode.UNLINK, Opcode.RMDIR,
                Opcode.RENAME, Opcode.RENAME2, Opcode.TMPFILE -> "a change of " + name;
            default -> "request with opcode " + request.opcode() + " on " + name;
        };
    }
}
