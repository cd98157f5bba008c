package io.modeldisk.mount;

import io.modeldisk.mount.exchange.Memories;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import java.lang.foreign.ValueLayout;

/** A request without a kernel, for tests. */
public final class FakeRequest extends DataRequest implements AutoCloseable {
    /** The bytes of the last reply. */
    public byte[] answer = {};

    private final Cancellation cancellation;

    /** Creates a request that the test can cancel. */
    public FakeRequest() {
        this(new Cancellation());
    }

    /** Creates a request with this cancellation. */
    public FakeRequest(Cancellation cancellation) {
        super(DataMemory.allocate(MEMORY_BYTES), 0);
        this.cancellation = cancellation;
    }

    /** Sets the first {@code lengthBytes} bytes of the memory to a value. */
    public FakeRequest with(int value, int lengthBytes) {
        memory().segment(0, lengthBytes).fill((byte) value);
        // In the memory of a real request, bytes of the previous request follow the data.
        memory().segment(lengthBytes, MEMORY_BYTES - lengthBytes).fill((byte) 99);
        return this;
    }

    /** Copies the data of a write to the start of the memory. */
    public FakeRequest with(byte[] data) {
        Memories.copy(data, 0, memory(), 0, data.length);
        return this;
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
        memory().close();
    }
}
