package io.modeldisk.gradient;

import io.modeldisk.mount.exchange.BufferedExchange;
import io.modeldisk.mount.exchange.Memories;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** Reads weights and writes gradients for a learner, through the file of a mount or in mapped buffers. */
final class LearnerFile implements AutoCloseable {
    /** The ways in which a learner uses its exchange. */
    enum Way {
        /** With read(2) and write(2) of the file {@code model}. */
        FILE,
        /** In buffers that the learner maps. */
        MAPPED
    }

    private static final float[] NON_FINITE = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY};

    final Way way;
    private final BufferedExchange exchange;
    private final SplittableRandom random;
    private final int sizeBytes;
    private final ValueType dtype;
    private final DataMemory memory = DataMemory.allocate(DataRequest.MEMORY_BYTES);

    LearnerFile(Way way, BufferedExchange exchange, SplittableRandom random, Scenario scenario) {
        this.way = way;
        this.exchange = exchange;
        this.random = random;
        this.sizeBytes = scenario.gradientBytes();
        this.dtype = scenario.dtype();
    }

    private byte[] bytes(Gradient gradient) {
        ByteBuffer bytes = ByteBuffer.allocate(Math.min(sizeBytes, gradient.end * LogicalBlock.BYTES) - start(gradient))
            .order(ByteOrder.LITTLE_ENDIAN);
        for (int block = gradient.from; bytes.hasRemaining(); block++) {
            float value = gradient.value(block);
            for (int i = 0; i < LogicalBlock.BYTES && bytes.hasRemaining(); i += dtype.bytes()) {
                put(bytes, bytes.position(), value);
                bytes.position(bytes.position() + dtype.bytes());
            }
        }
        if (!gradient.finite) {
            SplittableRandom places = new SplittableRandom(gradient.number);
            for (int i = places.nextInt(1, 3); i > 0; i--) {
                put(bytes, places.nextInt(bytes.capacity() / dtype.bytes()) * dtype.bytes(),
                    NON_FINITE[places.nextInt(NON_FINITE.length)]);
            }
        }
        return bytes.array();
    }

    private void put(ByteBuffer bytes, int at, float value) {
        if (dtype == ValueType.FLOAT32) {
            bytes.putFloat(at, value);
        } else {
            // A bfloat16 is the upper half of a float32.
            bytes.putShort(at, (short) (Float.floatToRawIntBits(value) >>> Short.SIZE));
        }
    }

    private static int start(Gradient gradient) {
        return gradient.from * LogicalBlock.BYTES;
    }

    /**
     * Writes a gradient.
     *
     * @param pushed true to write, with overlap, to the mapped buffer whose push the last fsync has begun, instead of the buffer
     *     in which the learner computes
     */
    void write(Gradient gradient, boolean pushed) throws IOException {
        byte[] bytes = bytes(gradient);
        int set = pushed ? 1 - exchange.activeSet() : exchange.activeSet();
        switch (way) {
            case FILE -> writePieces(bytes, start(gradient));
            case MAPPED -> Memories.copy(bytes, 0, exchange.buffer(set, true, Cancellation.NONE), 0, bytes.length);
        }
    }

    /** Writes a gradient in two pieces, in random order. The boundary of the pieces can be within a logical block. */
    private void writePieces(byte[] bytes, int start) throws IOException {
        int cut = random.nextInt(bytes.length / dtype.bytes()) * dtype.bytes();
        boolean first = random.nextBoolean();
        writeRange(bytes, start, first ? 0 : cut, first ? cut : bytes.length);
        writeRange(bytes, start, first ? cut : 0, first ? bytes.length : cut);
    }

    private void writeRange(byte[] bytes, int start, int from, int end) throws IOException {
        for (int at = from; at < end; at += DataRequest.MAX_REQUEST_BYTES) {
            int length = Math.min(end - at, DataRequest.MAX_REQUEST_BYTES);
            Memories.copy(bytes, at, memory, 0, length);
            exchange.write(start + at, length, request());
        }
    }

    /** Reads a part of the weights from the file, or waits for the weights in the mapped buffers. */
    void read() throws IOException {
        if (way == Way.FILE) {
            exchange.read(0, Math.min(sizeBytes, 4096), request());
        } else {
            exchange.awaitWeights(Cancellation.NONE);
        }
    }

    private DataRequest request() {
        return new DataRequest(memory, 0) {
            @Override
            public Cancellation cancellation() {
                return Cancellation.NONE;
            }

            @Override
            public void reply(DataMemory weights, long offset, int lengthBytes) {
                // The weights that a read returns are not checked. Only the final weights of the job are checked.
                weights.slab(0).get(ValueLayout.JAVA_BYTE, offset);
            }
        };
    }

    @Override
    public void close() {
        memory.close();
    }
}
