package io.modeldisk.mount.fuse.kernel;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;

/**
 * The memory for one request at a time: its header, data and reply, and the I/O vectors that point to them. The memory is
 * allocated once and reused. Only one thread at a time uses a slot, but any thread can call {@link #interrupt}, {@link #cancel}
 * and {@link #abandon}.
 */
final class RequestSlot extends DataRequest {
    private static final int VECTOR_ENTRY_BYTES = 16;
    private static final int REPLY_PARTS = 3;

    private final RequestView request;
    private final ReplyView reply;
    private final MemorySegment state;
    private final MemorySegment inVector;
    private final MemorySegment outVector;
    private final Cancellation cancellation = new Cancellation();

    /** Ends a request that was started. Set before the first request. */
    private BiConsumer<RequestSlot, Ending> ender;
    /** The descriptor from which the current request was read. */
    private int fd;
    private long receivedUnique;
    private long arrivedNs;
    private boolean replied;
    /** True if the kernel has refused the reply to the current request, because the kernel no longer waited for a reply. */
    private boolean refused;
    // The number of the request in this slot while it can be interrupted, otherwise 0. Guarded by this.
    private long unique;
    // True if the process has received EINTR although the request continues. Writes are guarded by this.
    private volatile boolean abandoned;

    RequestSlot(Arena arena, DataMemory memory, long memoryOffset) {
        super(memory, memoryOffset);
        MemorySegment head = arena.allocate(RequestView.HEAD_BYTES, Long.BYTES);
        MemorySegment out = arena.allocate(ReplyView.CAPACITY_BYTES, Long.BYTES);
        this.request = new RequestView(head, memory.slab(memoryOffset), DataMemory.offsetInSlab(memoryOffset));
        this.reply = new ReplyView(out);
        this.state = Errno.newCallState(arena);
        this.inVector = arena.allocate(2 * VECTOR_ENTRY_BYTES, Long.BYTES);
        this.outVector = arena.allocate(REPLY_PARTS * VECTOR_ENTRY_BYTES, Long.BYTES);
        part(inVector, 0, head.address(), RequestView.HEAD_BYTES);
        part(inVector, 1, memory.address(memoryOffset), MEMORY_BYTES);
        part(outVector, 0, out.address(), ReplyView.HEADER_BYTES);
    }

    /** Sets the function that ends a request that was started. */
    void onEnd(BiConsumer<RequestSlot, Ending> endsStarted) {
        this.ender = endsStarted;
    }

    /**
     * Reads the next request. The reply must be written to the same descriptor.
     *
     * @return the length of the request, or the negative error number
     */
    long receive(int descriptor) {
        fd = descriptor;
        long length = Descriptors.readv(state, fd, inVector.address(), 2);
        received();
        return length;
    }

    /** Returns a copy of the request, for {@link #load}. */
    ParkedRequest copy() {
        return new ParkedRequest(fd, receivedUnique, arrivedNs, request.copy());
    }

    /** Loads a copied request into this slot, as if the slot had received the request. */
    void load(ParkedRequest copy) {
        fd = copy.fd();
        arrivedNs = copy.arrivedNs();
        request.load(copy.bytes());
        received();
    }

    /** Sets the time at which the current request arrived. */
    void arrived(long nowNs) {
        arrivedNs = nowNs;
    }

    /**
     * Returns the time at which the current request arrived. The time is only known for a request of the kind {@link
     * RequestKind#VERSION}.
     */
    long arrivedNs() {
        return arrivedNs;
    }

    private void received() {
        receivedUnique = request.unique();
        replied = false;
        refused = false;
        reply.reset();
    }

    RequestView request() {
        return request;
    }

    ReplyView body() {
        return reply;
    }

    boolean isReplied() {
        return replied;
    }

    /** Returns whether the kernel has refused the reply, for example because the process had already received EINTR. */
    boolean isRefused() {
        return refused;
    }

    /** Makes the request in this slot interruptible. */
    synchronized void begin() {
        unique = receivedUnique;
        cancellation.reset();
    }

    /**
     * Records that the request in this slot has completed and is no longer interruptible.
     *
     * @return whether the request was {@linkplain #abandon abandoned}
     */
    synchronized boolean end() {
        boolean was = abandoned;
        unique = 0;
        abandoned = false;
        return was;
    }

    /**
     * Replies with EINTR to the request with this number, unless the request has ended or must not be abandoned any more. The
     * thread that serves the request continues, and the kernel refuses its later reply. Any thread can call this method.
     */
    synchronized void abandon(long interruptedUnique) {
        if (unique != interruptedUnique || !cancellation.abandon()) {
            return;
        }
        // The flag is set before the reply is sent, because the next request of the process must wait for this request.
        abandoned = true;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ReplyView.HEADER_BYTES, Long.BYTES);
            new ReplyView(out).header(unique, Errno.EINTR.number(), ReplyView.HEADER_BYTES);
            // An error is ignored: the process has already received a reply, or has exited.
            Descriptors.write(fd, out);
        }
    }

    /** Returns whether the request in this slot changes the file with this node, and was {@linkplain #abandon abandoned}. */
    boolean isAbandonedChange(long node) {
        return abandoned && request.isChange() && request.node() == node;
    }

    /**
     * Cancels the request with this number. Returns false if this slot does not hold that request. Any thread can call this
     * method.
     */
    synchronized boolean interrupt(long interruptedUnique) {
        if (unique != interruptedUnique) {
            return false;
        }
        cancellation.cancel();
        return true;
    }

    /** Cancels the request in this slot, if there is one. Any thread can call this method. */
    synchronized void cancel() {
        if (unique != 0) {
            cancellation.cancel();
        }
    }

    @Override
    public Cancellation cancellation() {
        return cancellation;
    }

    /** Replies with success and the body, which can be empty. */
    void replyBody() throws IOException {
        length(outVector, 0, ReplyView.HEADER_BYTES + reply.bodyBytes());
        send(0, ReplyView.HEADER_BYTES + reply.bodyBytes(), 1);
    }

    /** Replies with an error. */
    void replyError(Errno errno) throws IOException {
        length(outVector, 0, ReplyView.HEADER_BYTES);
        send(errno.number(), ReplyView.HEADER_BYTES, 1);
    }

    /**
     * Notifies the kernel that the cached pages of a node are outdated. Must be called before the reply to the request in this
     * slot.
     */
    void notifyInvalid(long node) throws IOException {
        reply.invalid(node);
        length(outVector, 0, ReplyView.HEADER_BYTES + reply.bodyBytes());
        reply.header(0, -KernelProtocol.NOTIFY_INVALID, ReplyView.HEADER_BYTES + reply.bodyBytes());
        write(fd, ReplyView.HEADER_BYTES + reply.bodyBytes(), 1);
        reply.reset();
    }

    /**
     * Replies to a parked request with an error. Must be called only while the request in this slot needs no reply, because both
     * use the same memory.
     */
    void replyError(ParkedRequest parked, Errno errno) throws IOException {
        length(outVector, 0, ReplyView.HEADER_BYTES);
        reply.header(parked.unique(), errno.number(), ReplyView.HEADER_BYTES);
        write(parked.fd(), ReplyView.HEADER_BYTES, 1);
    }

    @Override
    public void end(Ending ending) {
        ender.accept(this, ending);
    }

    @Override
    public void reply(DataMemory from, long offset, int lengthBytes) throws IOException {
        length(outVector, 0, ReplyView.HEADER_BYTES);
        int parts = 1;
        if (lengthBytes > 0) {
            int first = Math.min(lengthBytes, from.bytesLeftInSlab(offset));
            part(outVector, parts++, from.address(offset), first);
            if (first < lengthBytes) {
                part(outVector, parts++, from.address(offset + first), lengthBytes - first);
            }
        }
        send(0, ReplyView.HEADER_BYTES + lengthBytes, parts);
    }

    private void send(int errorNumber, int totalBytes, int parts) throws IOException {
        if (replied) {
            throw new IllegalStateException("request " + receivedUnique + " already has a reply");
        }
        replied = true;
        reply.header(receivedUnique, errorNumber, totalBytes);
        write(fd, totalBytes, parts);
    }

    private void write(int descriptor, int totalBytes, int parts) throws IOException {
        long written = Descriptors.writev(state, descriptor, outVector.address(), parts);
        // ENOENT: the request was aborted. ENODEV: the directory was unmounted. In both cases no process waits for the reply.
        refused = written < 0;
        if (written < 0 && written != -Errno.ENOENT.number() && written != -Errno.ENODEV.number()) {
            throw new IOException(
                "the kernel did not accept a reply of " + totalBytes + " bytes: " + Errno.nameOf(-written));
        }
    }

    private static void length(MemorySegment vector, int index, long lengthBytes) {
        vector.set(JAVA_LONG, (long) index * VECTOR_ENTRY_BYTES + Long.BYTES, lengthBytes);
    }

    private static void part(MemorySegment vector, int index, long address, long lengthBytes) {
        vector.set(JAVA_LONG, (long) index * VECTOR_ENTRY_BYTES, address);
        length(vector, index, lengthBytes);
    }
}
