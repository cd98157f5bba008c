package io.modeldisk.server.fake;

import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.RecordBatch;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordReader;
import io.modeldisk.fault.record.RecordSink;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A sink that keeps records in memory. A test can make {@link #finish} fail or wait. Thread-safe. */
public final class MemorySink implements RecordSink {
    private final List<RecordHeader> records = new ArrayList<>();
    private RecordBatch begun;
    private long lastPosition;
    private String failure;
    private boolean held;
    private boolean holding;
    private boolean closed;
    private int offers;

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public synchronized void begin(RecordBatch batch) {
        begun = batch;
        offers++;
        notifyAll();
    }

    @Override
    public synchronized void finish() throws IOException {
        holding = true;
        notifyAll();
        while (held && !closed) {
            await();
        }
        holding = false;
        if (failure != null) {
            throw new IOException(failure);
        }
        MemorySegment copy = Arena.ofAuto().allocate(begun.lengthBytes(), RecordBatch.ALIGNMENT);
        MemorySegment.copy(begun.memory().slab(begun.offset()), begun.offset(), copy, 0, begun.lengthBytes());
        RecordReader reader = new RecordReader(copy, lastPosition == 0 ? 0 : lastPosition + 1);
        for (RecordHeader each = next(reader); each != null; each = next(reader)) {
            records.add(new RecordHeader().wrap(copy, each.start()));
            lastPosition = each.position();
        }
        if (lastPosition != begun.lastPosition()) {
            throw new AssertionError(
                "the batch ends at " + begun.lastPosition() + ", but its last record is " + lastPosition);
        }
        notifyAll();
    }

    private static RecordHeader next(RecordReader reader) {
        try {
            return reader.next();
        } catch (DamagedRecordException e) {
            throw new AssertionError(e);
        }
    }

    private void await() {
        try {
            wait();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Makes each batch fail from now on with this reason. If the reason is null, batches succeed again. */
    public synchronized void fail(String reason) {
        failure = reason;
    }

    /** Makes {@link #finish} wait until {@link #release}. */
    public synchronized void hold() {
        held = true;
    }

    /** Makes {@link #finish} return. */
    public synchronized void release() {
        held = false;
        notifyAll();
    }

    /** Waits until a call of {@link #finish} is in progress. */
    public synchronized void awaitHeld() {
        while (!holding) {
            await();
        }
    }

    /** Waits until the record at this position is kept. */
    public synchronized void await(long position) {
        while (lastPosition < position) {
            await();
        }
    }

    /** Waits until batches were offered this many times, including those that failed. */
    public synchronized void awaitOffers(int count) {
        while (offers < count) {
            await();
        }
    }

    /** The number of times that a batch was offered. */
    public synchronized int offers() {
        return offers;
    }

    /** The records that are kept. */
    public synchronized List<RecordHeader> records() {
        return List.copyOf(records);
    }

    /** True if the sink was closed. */
    public synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}
