package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.BlockMemory;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.test.ManualClock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;

/**
 * A shard of two small blocks and the operations of its learners, for Lincheck. Each learner has a thread that calls its
 * operations, except {@link #expire}. No operation blocks. An operation that must wait returns {@code waits}.
 *
 * <p>At the start, two of the three learners have joined. Each learner pushes the whole model in one piece, and pulls the last
 * block of the model.
 */
public abstract class InterleavedShard {
    private static final int LEARNERS = 3;
    private static final int FIRST_LEARNERS = 2;
    private static final int PAGE = 4096;
    private static final int SIZE = 2 * PAGE;
    private static final String REFUSED = "refused";
    // All runs share this memory, because the gradients never change and each learner has its own memory for pulled weights.
    private static final Nexus[] NEXUS = new Nexus[LEARNERS];
    private static final DataMemory[] MEMORY = new DataMemory[LEARNERS];

    static {
        for (int i = 0; i < LEARNERS; i++) {
            NEXUS[i] = FakeTask.nexus("learner" + i);
            MEMORY[i] = DataMemory.allocate(SIZE + PAGE);
            // The gradient of each learner is a different power of 16, so a sum shows which learners have pushed.
            Weights.fill(MEMORY[i].segment(0, SIZE), 1 << 4 * i);
        }
    }

    /** A shard under bsp. */
    public static final class OfBsp extends InterleavedShard {
        @Override
        Consistency create(BlockStore blocks, Aggregator aggregator, Learners learners) {
            return new Bsp(blocks, aggregator, learners);
        }
    }

    /** A shard under ssp with staleness 0. */
    public static final class OfSsp extends InterleavedShard {
        @Override
        Consistency create(BlockStore blocks, Aggregator aggregator, Learners learners) {
            return new Ssp(0, blocks, aggregator, learners);
        }
    }

    private record Task(int learner, long round, long offset, int lengthBytes, Resumed resumed) implements IoTask {
        Task(int learner, long round, long offset) {
            this(learner, round, offset, (int) (SIZE - offset), new Resumed());
        }

        @Override
        public Nexus nexus() {
            return NEXUS[learner];
        }

        @Override
        public ValueType valueType() {
            return ValueType.FLOAT32;
        }

        @Override
        public boolean declaredFinite() {
            return false;
        }

        @Override
        public long logPosition() {
            return 0;
        }

        @Override
        public void logPosition(long position) {
            throw new UnsupportedOperationException("a consistency mode does not wait for the log");
        }

        @Override
        public long deviceTicket() {
            return 0;
        }

        @Override
        public void deviceTicket(long ticket) {
            throw new UnsupportedOperationException("a consistency mode does not wait for the device");
        }

        @Override
        public DataMemory memory() {
            return MEMORY[learner];
        }

        @Override
        public int pieceCount() {
            return 1;
        }

        @Override
        public long pieceOffset(int index) {
            return 0;
        }

        @Override
        public int pieceLengthBytes(int index) {
            return lengthBytes;
        }

        @Override
        public long scratchOffset() {
            return SIZE;
        }

        @Override
        public int scratchBytes() {
            return PAGE;
        }

        @Override
        public void resume() {
            resumed.yes = true;
        }
    }

    private static final class Resumed {
        private volatile boolean yes;
    }

    /**
     * Adds only the first and the last value of a gradient. Other threads may run between the two additions, so the test can
     * detect a torn read.
     */
    private static final class EndsAggregator implements Aggregator {
        private volatile int moments;

        @Override
        public void aggregate(
            BlockMemory block, long offset, MemorySegment gradient, long gradientOffset, long lengthBytes,
            float scale) {
            add(block.weights(), offset, gradient, gradientOffset, scale);
            moments++;
            long last = lengthBytes - Float.BYTES;
            add(block.weights(), offset + last, gradient, gradientOffset + last, scale);
        }

        private static void add(MemorySegment weights, long offset, MemorySegment gradient, long from, float scale) {
            float sum = weights.get(ValueLayout.JAVA_FLOAT, offset)
                + scale * gradient.get(ValueLayout.JAVA_FLOAT, from);
            weights.set(ValueLayout.JAVA_FLOAT, offset, sum);
        }
    }

    private final BlockStore store = new BlockStore(new BlockLayout(SIZE, PAGE), 1, 0);
    private final Learners membership = new Learners(FIRST_LEARNERS, 0, Duration.ZERO, Integer.MAX_VALUE,
        store.layout(), new ManualClock());
    private final Consistency consistency = create(store, new EndsAggregator(), membership);
    // For each learner: the number that identifies its membership (0 without a membership), the next round, and the waiting
    // tasks.
    private final long[] numbers = new long[LEARNERS];
    private final long[] rounds = new long[LEARNERS];
    private final Task[] pushes = new Task[LEARNERS];
    private final Task[] pulls = new Task[LEARNERS];
    private volatile int moments;

    InterleavedShard() {
        for (Nexus nexus : NEXUS) {
            membership.connected(nexus);
        }
        for (int i = 0; i < FIRST_LEARNERS; i++) {
            join(i);
        }
    }

    abstract Consistency create(BlockStore blocks, Aggregator aggregator, Learners learners);

    /** Joins a learner. Returns its first round. */
    @Operation
    public final long join(int learner) {
        Learner member = membership.join(NEXUS[learner]);
        if (member.number() != numbers[learner]) {
            numbers[learner] = member.number();
            rounds[learner] = member.joinRound();
        }
        return member.joinRound();
    }

    /**
     * Pushes the next round, or tries a waiting push again. Returns whether the push was accepted, waits or was refused. After a
     * refusal, the learner must join again.
     */
    @Operation
    public final String push(int learner) {
        if (numbers[learner] == 0) {
            return REFUSED;
        }
        if (pushes[learner] == null) {
            pushes[learner] = new Task(learner, rounds[learner], 0);
        }
        pushes[learner].resumed.yes = false;
        try {
            if (!consistency.push(pushes[learner])) {
                return "waits";
            }
        } catch (ScsiException e) {
            pushes[learner] = null;
            numbers[learner] = 0;
            return REFUSED;
        }
        pushes[learner] = null;
        rounds[learner]++;
        return "taken";
    }

    /**
     * Pulls the weights after the last push of the learner, or tries a waiting pull again. Returns the weights, or {@code waits}.
     */
    @Operation
    public final String pull(int learner) throws ScsiException {
        if (pulls[learner] == null) {
            pulls[learner] = new Task(learner, numbers[learner] == 0 ? 0 : rounds[learner] - 1, PAGE);
        }
        Task task = pulls[learner];
        task.resumed.yes = false;
        if (!consistency.admitPull(task)) {
            return "waits";
        }
        pulls[learner] = null;
        Pin pin = new Pin();
        store.pin(task, 0, pin);
        MemorySegment weights = pin.memory().segment(pin.offset(), PAGE);
        float first = weights.get(ValueLayout.JAVA_FLOAT, 0);
        moments++;
        float last = weights.get(ValueLayout.JAVA_FLOAT, PAGE - Float.BYTES);
        store.unpin(pin);
        return first == last ? String.valueOf(first) : "torn: " + first + " and " + last;
    }

    /** Removes a learner and its waiting tasks. */
    @Operation
    public final void leave(int learner) {
        if (pushes[learner] != null) {
            consistency.forget(pushes[learner]);
        }
        if (pulls[learner] != null) {
            consistency.forget(pulls[learner]);
        }
        pushes[learner] = null;
        pulls[learner] = null;
        numbers[learner] = 0;
        if (membership.left(NEXUS[learner])) {
            consistency.learnersLeft();
        }
        membership.connected(NEXUS[learner]);
    }

    /** Postpones the first round of a learner to round 2, as if the learner had joined another shard at that round. */
    @Operation
    public final void postpone(int learner) {
        if (membership.postpone(membership.join(NEXUS[learner]), 2)) {
            rounds[learner] = 2;
            consistency.learnersLeft();
        }
    }

    /** Expires the lease of a learner, even if tasks of the learner are in progress. May be called by any thread. */
    @Operation
    public final void expire(int learner) {
        membership.lost(NEXUS[learner]);
        if (!membership.expire().isEmpty()) {
            consistency.learnersLeft();
        }
        membership.connected(NEXUS[learner]);
    }

    /** Checks at the end that every waiting task that can be accepted was resumed. */
    @Validate
    public final void acceptableTasksWereResumed() throws ScsiException {
        for (int i = 0; i < LEARNERS; i++) {
            if (pushes[i] != null && !pushes[i].resumed.yes && consistency.push(pushes[i])) {
                throw new IllegalStateException("a push of learner " + i + " can be accepted but was not resumed");
            }
            if (pulls[i] != null && !pulls[i].resumed.yes && consistency.admitPull(pulls[i])) {
                throw new IllegalStateException("a pull of learner " + i + " can be admitted but was not resumed");
            }
        }
        consistency.close();
        store.close();
    }
}
