package io.modeldisk.mount;

import io.modeldisk.mount.exchange.Memories;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.ValueLayout;

/** A request without a kernel. */
public final class FakeRequest implements DataRequest, AutoCloseable {
    /** The bytes of the reply. */
    public byte[] answer = {};

    private final DataMemory memory = DataMemory.allocate(MEMORY_BYTES);
    private final Cancellation cancellation;

    /** A request that the test may cancel. */
    public FakeRequest() {
        this(new Cancellation());
    }

    /** A request with this cancellation. */
    public FakeRequest(Cancellation cancellation) {
        this.cancellation = cancellation;
    }

    /** Fills the start of the memory. */
    public FakeRequest with(int value, int lengthBytes) {
        memory.segment(0, lengthBytes).fill((byte) value);
        // A real slot holds bytes of the previous request behind the data.
        memory.segment(lengthBytes, MEMORY_BYTES - lengthBytes).fill((byte) 99);
        return this;
    }

    /** The data of a write. */
    public FakeRequest with(byte[] data) {
        Memories.copy(data, 0, memory, 0, data.length);
        return this;
    }

    @Override
    public DataMemory memory() {
        return memory;
    }

    @Override
    public long memoryOffset() {
        return 0;
    }

    @Override
    public Cancellation cancellation() {
        return cancellation;
    }

    @Override
    public void reply(DataMemory from, long offset, int lengthBytes) {
        answer = from.segment(offset, lengthBytes).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() {
        memory.close();
    }
}
