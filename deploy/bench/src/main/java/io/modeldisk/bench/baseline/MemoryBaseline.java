package io.modeldisk.bench.baseline;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Offsets;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.lang.foreign.MemorySegment;

/**
 * The baseline for the datamover shm. One thread does the work of the shard without a protocol. For a push, an aggregator applies
 * a buffer to a range of the model. For a pull, the thread copies a range of the model to a buffer. The null aggregator accesses
 * no memory, so a push to the null aggregator copies a range of the model instead. The baseline uses as many buffers as a session
 * with the same load. Not thread-safe.
 */
public final class MemoryBaseline implements AutoCloseable {
    private static final String NULL_AGGREGATOR = "null";

    private final DataMemory model;
    private final DataMemory state;
    private final DataMemory buffers;
    private final Aggregator aggregator;
    private final boolean aggregates;

    /**
     * Allocates a model and the aggregator's state. The model and the state each have at most one slab, so no request
     * crosses a slab boundary.
     *
     * @param bufferBytes the size of the memory for pushed or pulled data
     * @param specification the aggregator, in the syntax of {@link Aggregators#parse}
     */
    public MemoryBaseline(long modelBytes, long bufferBytes, String specification) {
        this.aggregator = Aggregators.parse(specification);
        this.aggregates = !specification.equals(NULL_AGGREGATOR);
        int kept = aggregator.stateBytesPerLogicalBlock();
        long most = (long) DataMemory.SLAB_BYTES / Math.max(LogicalBlock.BYTES, kept) * LogicalBlock.BYTES;
        this.model = DataMemory.allocate(Math.min(modelBytes, most));
        this.state = DataMemory.allocate(Math.max(1, LogicalBlock.in(model.bytes()) * kept));
        this.buffers = DataMemory.allocate(Math.min(bufferBytes, DataMemory.SLAB_BYTES));
    }

    private record Range(MemorySegment weights, MemorySegment state) implements BlockMemory {
        @Override
        public long round() {
            return 1;
        }
    }

    /** Moves the data of a load. The direction of the load must be push or pull. */
    public long move(Load load) {
        Offsets walk = new Offsets(model.bytes(), load.requestBytes(), false);
        long inTurn = load.direction().pushes() ? load.pushBuffers() : load.queueDepth();
        Offsets buffer = new Offsets(Math.min(buffers.bytes(), inTurn * load.requestBytes()), load.requestBytes(),
            false);
        long begun = System.nanoTime();
        for (long i = 0; i < load.requests(); i++) {
            step(load.direction(), walk.next(), buffer.next(), load.requestBytes());
        }
        return System.nanoTime() - begun;
    }

    private void step(Direction direction, long at, long buffer, int bytes) {
        if (direction.pushes() && aggregates) {
            int kept = aggregator.stateBytesPerLogicalBlock();
            MemorySegment keeps = kept == 0
                ? MemorySegment.NULL
                : state.segment(LogicalBlock.in(at) * kept, LogicalBlock.in(bytes) * kept);
            aggregator.aggregate(new Range(model.segment(at, bytes), keeps), 0, buffers.slab(buffer),
                DataMemory.offsetInSlab(buffer), bytes, 1);
        } else {
            MemorySegment.copy(model.slab(at), DataMemory.offsetInSlab(at), buffers.slab(buffer),
                DataMemory.offsetInSlab(buffer), bytes);
        }
    }

    @Override
    public void close() {
        aggregator.close();
        model.close();
        state.close();
        buffers.close();
    }
}
