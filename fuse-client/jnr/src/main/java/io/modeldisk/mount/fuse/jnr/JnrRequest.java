package io.modeldisk.mount.fuse.jnr;

import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.MemorySegment;
import jnr.ffi.Pointer;

/**
 * A read or a write of libfuse 2. Copies the data between the buffer of libfuse and memory that datamovers can use. The object is
 * reused for later requests.
 */
final class JnrRequest extends DataRequest {
    private MemorySegment buffer = MemorySegment.NULL;
    private Cancellation cancellation = Cancellation.NONE;
    private int repliedBytes;

    /** Creates a request that uses {@link DataRequest#MEMORY_BYTES} of the memory. */
    JnrRequest(DataMemory memory, long memoryOffset) {
        super(memory, memoryOffset);
    }

    /** Begins a request with this buffer of libfuse. */
    @SuppressWarnings("restricted")
    void begin(Pointer libfuse, int lengthBytes, Cancellation cancelled) {
        buffer = MemorySegment.ofAddress(libfuse.address()).reinterpret(lengthBytes);
        cancellation = cancelled;
        repliedBytes = 0;
    }

    /** Copies the data of a write from the buffer of libfuse to the memory of this request. */
    void load() {
        MemorySegment.copy(buffer, 0, memory().slab(memoryOffset()), DataMemory.offsetInSlab(memoryOffset()),
            buffer.byteSize());
    }

    /** Returns the number of bytes of the reply to a read. */
    int repliedBytes() {
        return repliedBytes;
    }

    @Override
    public Cancellation cancellation() {
        return cancellation;
    }

    @Override
    public void reply(DataMemory from, long offset, int lengthBytes) {
        int done = 0;
        while (done < lengthBytes) {
            int part = Math.min(lengthBytes - done, from.bytesLeftInSlab(offset + done));
            MemorySegment.copy(from.slab(offset + done), DataMemory.offsetInSlab(offset + done), buffer, done, part);
            done += part;
        }
        repliedBytes = lengthBytes;
    }
}
