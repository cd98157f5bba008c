package io.modeldisk.mount;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.mount.exchange.Memories;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.Partition;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.striping.Arrivals;
import io.modeldisk.striping.ReadVersion;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * A model in memory, for tests. A push adds bytes to the weights. A test can make calls fail or wait. The model records the
 * calls.
 */
public final class MemoryModel implements RemoteModel {
    private final Arrivals arrivals = new Arrivals(NanoClock.SYSTEM, 1);
    /** The pushes in their order, each as {@code offset+length}. */
    public final List<String> pushes = new CopyOnWriteArrayList<>();
    /**
     * The ranges that were marked as absent, in order, each as {@code offset+length}. The word "counted" follows if the call
     * counts a gradient.
     */
    public final List<String> absents = new CopyOnWriteArrayList<>();
    /** The calls of join, leave and synchronize, in their order. */
    public final List<String> calls = new CopyOnWriteArrayList<>();
    /** The rounds with which {@link #partition} was called, in the order of the calls. */
    public final List<Long> askedRounds = new CopyOnWriteArrayList<>();
    /** The number of calls of {@link #write} that have failed. */
    public final AtomicInteger failedWrites = new AtomicInteger();
    /** The number of calls that wait now. */
    public final AtomicInteger waiting = new AtomicInteger();
    /** The number of pulls that have begun. */
    public final AtomicInteger pulls = new AtomicInteger();
    /** The number of bytes that calls of {@link #write} have written. */
    public final AtomicLong writtenBytes = new AtomicLong();
    /** The number of calls of {@link #readVersion}. */
    public final AtomicInteger versionReads = new AtomicInteger();
    /** The parameter {@code sinceNs} of the last call of {@link #readVersion}. */
    public volatile long versionSinceNs;
    /** The number of reads of the status. */
    public final AtomicInteger statusReads = new AtomicInteger();
    /** The number of calls of {@link #awaitVersion}. */
    public final AtomicInteger versionCalls = new AtomicInteger();
    /** The number of reads of the counters. */
    public final AtomicInteger counterReads = new AtomicInteger();

    /** True if the mount only follows the model. Must be set before the model is mounted. */
    public boolean follows;
    /** True while reads of the status and of the counters fail. */
    public volatile boolean statusFails;
    /** True while writes of weights fail. */
    public volatile boolean writesFail;
    /** True while a join fails. */
    public volatile boolean joinFails;
    /** True while pulls throw an unexpected exception. */
    public volatile boolean pullBreaks;
    /** The result of {@link #isNewest}. */
    public volatile boolean versionIsNewest = true;
    /** The kind of exception with which calls of {@link #isNewest} fail. Null makes them succeed. */
    public volatile ShardException.Kind lookFailure;
    /** The names of the tensors, as JSON. */
    public volatile String tensors;
    /** An action that runs in each call of {@link #goOn}. */
    public volatile Runnable whenGoingOn = () -> {};

    /** The number of rounds that are lost by {@link #goBack}. */
    public static final long ROUNDS_BACK = 3;

    private final Queue<Runnable> heldBack = new ConcurrentLinkedQueue<>();
    private final ModelFacts facts;
    private final DataMemory bytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Cancellation.Waiter wake = Cancellation.signalling(lock, changed);
    private volatile int pushesBeforeFailure = Integer.MAX_VALUE;
    private volatile int pullsBeforeFailure = Integer.MAX_VALUE;
    private volatile long version = 7;
    private volatile long history = 1;
    private final AtomicReference<Runnable> beforeVersion = new AtomicReference<>(() -> {});
    private volatile IOException versionFailure;
    private volatile boolean pushesWait;
    private volatile boolean pushesHang;
    private volatile boolean pullsWait;
    private volatile boolean synchronizeWaits;
    private volatile boolean released;
    private volatile boolean wentBack;
    private NanoClock clock = NanoClock.SYSTEM;
    private volatile long pullNs;
    private volatile float learningRate = 0.5f;
    private volatile boolean versionsWait;

    /** Creates a model whose weights are zero. */
    public MemoryModel(long sizeBytes) {
        this(sizeBytes, "pass");
    }

    /** Creates a model whose weights are zero. {@code nonFinite} is the policy for gradients with NaN and infinity. */
    public MemoryModel(long sizeBytes, String nonFinite) {
        this.facts = new ModelFacts("m", sizeBytes, 1 << 18, 0, 1, "sgd:lr=0.5", "asp", 1, 0, nonFinite, "zeros",
            ValueType.FLOAT32, ModelFacts.PROTOCOL, null);
        this.tensors = "{\"weights\": {\"dtype\": \"F32\", \"shape\": [" + sizeBytes / Float.BYTES
            + "], \"data_offsets\": [0, " + sizeBytes + "]}}";
        this.bytes = DataMemory.allocate(LogicalBlock.up(sizeBytes));
    }

    /** Makes one push fail after this number of successful pushes. */
    public void failPushAfter(int pushesThatSucceed) {
        pushesBeforeFailure = pushesThatSucceed;
    }

    /** Makes one pull fail after this number of successful pulls. The failed pull reads half of its range. */
    public void failPullAfter(int pullsThatSucceed) {
        pullsBeforeFailure = pullsThatSucceed;
    }

    /** Sets whether pushes wait. A push waits until it is cancelled or the value is set to false. */
    public void pushesWait(boolean value) {
        pushesWait = value;
        wake.wake();
    }

    /** Sets whether pulls wait. A pull waits until it is cancelled or the value is set to false. */
    public void pullsWait(boolean value) {
        pullsWait = value;
        wake.wake();
    }

    /** Sets whether calls of synchronize wait. A call waits until it is cancelled or the value is set to false. */
    public void synchronizeWaits(boolean value) {
        synchronizeWaits = value;
        wake.wake();
    }

    /** Sets the duration of each pull, measured by this clock. */
    public void pullsTake(Duration duration, NanoClock ofThisClock) {
        clock = ofThisClock;
        pullNs = duration.toNanos();
    }

    /** Resumes all waiting calls, at the end of a test. */
    public void release() {
        released = true;
        wake.wake();
    }

    /** Makes a shard go back to earlier weights with this value: all pushes and pulls fail until {@link #goOn} is called. */
    public void goBack(int weights) {
        fill(weights);
        wentBack = true;
    }

    private void checkNotBack() throws ShardException {
        if (wentBack) {
            throw new ShardException(ShardException.Kind.WENT_BACK, new ShardId(0, "test"), "shard 0 has gone back");
        }
    }

    /** Sets whether pushes hang: a push waits until the value is set to false, and cannot be cancelled. */
    public void pushesHang(boolean value) {
        pushesHang = value;
        wake.wake();
    }

    @Override
    public long goOn() {
        whenGoingOn.run();
        long rounds = wentBack ? ROUNDS_BACK : 0;
        wentBack = false;
        return rounds;
    }

    /** Returns a byte of the weights. */
    public byte weight(long offset) {
        return bytes.slab(offset).get(ValueLayout.JAVA_BYTE, DataMemory.offsetInSlab(offset));
    }

    /** Sets a byte of the weights. */
    public void setWeight(long offset, byte value) {
        bytes.slab(offset).set(ValueLayout.JAVA_BYTE, DataMemory.offsetInSlab(offset), value);
    }

    /** Sets all bytes of the weights to this value. */
    public void fill(int value) {
        bytes.segment(0, bytes.bytes()).fill((byte) value);
    }

    @Override
    public String learner() {
        return "l1";
    }

    @Override
    public boolean follows() {
        return follows;
    }

    @Override
    public ModelFacts facts() {
        return facts;
    }

    private void pullNow(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        checkNotBack();
        pulls.incrementAndGet();
        if (pullBreaks) {
            throw new IllegalStateException("the pull failed, because the test simulates a defect");
        }
        awaitWhile(() -> pullsWait, cancellation);
        if (pullNs > 0) {
            long endNs = clock.nanoTime() + pullNs;
            awaitWhile(() -> clock.nanoTime() - endNs < 0, endNs, cancellation);
        }
        if (pullsBeforeFailure-- == 0) {
            pullsBeforeFailure = Integer.MAX_VALUE;
            read(offset, memory, memoryOffset, LogicalBlock.up(lengthBytes / 2), cancellation);
            throw new IOException("shard 0 does not respond");
        }
        read(offset, memory, memoryOffset, lengthBytes, cancellation);
    }

    private void pushNow(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        awaitWhile(() -> pushesHang, Cancellation.NONE);
        awaitWhile(() -> pushesWait, cancellation);
        checkNotBack();
        add(offset, memory, memoryOffset, lengthBytes);
    }

    @Override
    public Arrivals arrivals() {
        return arrivals;
    }

    @Override
    public boolean startPull(long offset, DataMemory memory, long memoryOffset, long lengthBytes,
        Cancellation cancellation, Completion completion) throws IOException {
        return start(() -> pullNow(offset, memory, memoryOffset, lengthBytes, cancellation), completion);
    }

    @Override
    public boolean startPush(long offset, DataMemory memory, long memoryOffset, long lengthBytes, boolean judged,
        Cancellation cancellation, Completion completion) throws IOException {
        return start(() -> pushNow(offset, memory, memoryOffset, lengthBytes, cancellation), completion);
    }

    @Override
    public long absent(long offset, long lengthBytes, boolean nonFinite, Cancellation cancellation)
        throws IOException {
        checkNotBack();
        absents.add(offset + "+" + lengthBytes + (nonFinite ? " counted" : ""));
        return lengthBytes;
    }

    @Override
    public void countNonFinite() {
        calls.add("count");
    }

    /** Runs the call at once if {@code completion} is null. Otherwise holds it back until {@link #flush}. */
    private boolean start(Call call, Completion completion) throws IOException {
        if (completion == null) {
            call.run();
            return false;
        }
        heldBack.add(() -> end(call, completion));
        return true;
    }

    @Override
    public void flush() {
        for (Runnable call = heldBack.poll(); call != null; call = heldBack.poll()) {
            Thread.ofVirtual().start(call);
        }
    }

    /** A call that another thread runs. */
    @FunctionalInterface
    private interface Call {
        void run() throws IOException;
    }

    private static void end(Call call, Completion completion) {
        IOException failure = null;
        try {
            call.run();
        } catch (IOException e) {
            failure = e;
        } catch (RuntimeException e) {
            failure = new IOException(e);
        }
        completion.completed(failure);
    }

    private synchronized void add(long offset, DataMemory memory, long memoryOffset, long lengthBytes)
        throws IOException {
        check(offset, lengthBytes);
        if (pushesBeforeFailure-- == 0) {
            pushesBeforeFailure = Integer.MAX_VALUE;
            throw new IOException("shard 0 does not respond");
        }
        pushes.add(offset + "+" + lengthBytes);
        for (long i = 0; i < lengthBytes; i++) {
            byte add = memory.slab(memoryOffset + i).get(ValueLayout.JAVA_BYTE,
                DataMemory.offsetInSlab(memoryOffset + i));
            bytes.slab(offset + i).set(ValueLayout.JAVA_BYTE, DataMemory.offsetInSlab(offset + i),
                (byte) (weight(offset + i) + add));
        }
    }

    @Override
    public synchronized void read(long offset, DataMemory memory, long memoryOffset, long lengthBytes,
        Cancellation cancellation) {
        check(offset, lengthBytes);
        Memories.copy(bytes, offset, memory, memoryOffset, lengthBytes);
    }

    @Override
    public synchronized void write(long offset, DataMemory memory, long memoryOffset, long lengthBytes,
        Cancellation cancellation) throws IOException {
        if (writesFail) {
            failedWrites.incrementAndGet();
            throw new IOException("shard 0 does not respond");
        }
        check(offset, lengthBytes);
        Memories.copy(memory, memoryOffset, bytes, offset, lengthBytes);
        writtenBytes.addAndGet(lengthBytes);
    }

    @Override
    public ReadVersion readVersion(long offset, DataMemory memory, long memoryOffset, long lengthBytes, long sinceNs,
        Cancellation cancellation) throws IOException {
        versionSinceNs = sinceNs;
        awaitWhile(() -> versionsWait, cancellation);
        versionReads.incrementAndGet();
        read(offset, memory, memoryOffset, lengthBytes, cancellation);
        return new ReadVersion(ReadVersion.NO_ROUND, 7, 9, versionReads.get(), 0, 0, true);
    }

    @Override
    public boolean isNewest(ReadVersion version, long offset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        if (lookFailure != null) {
            throw new ShardException(lookFailure, new ShardId(0, "m"), "LOOK failed");
        }
        return versionIsNewest;
    }

    @Override
    public byte[] tensors() {
        return tensors.getBytes(StandardCharsets.UTF_8);
    }

    /** Sets whether reads of a version wait. */
    public void versionsWait(boolean value) {
        versionsWait = value;
        wake.wake();
    }

    @Override
    public void synchronize(Cancellation cancellation) throws IOException {
        awaitWhile(() -> synchronizeWaits, cancellation);
        checkNotBack();
        calls.add("synchronize");
    }

    @Override
    public void join() throws IOException {
        if (joinFails) {
            throw new IOException("shard 0 has reached its limit of learners");
        }
        calls.add("join");
    }

    @Override
    public void leave() {
        calls.add("leave");
    }

    /** Returns one more than the number of pushes that start at offset 0. */
    @Override
    public long nextRound() {
        return 1 + pushes.stream().filter(push -> push.startsWith("0+")).count();
    }

    @Override
    public float learningRate(long round) {
        return learningRate;
    }

    @Override
    public void changeLearningRate(long fromRound, float rate) {
        learningRate = rate;
        calls.add("lr " + rate + " from round " + fromRound);
    }

    /** Returns part 1 of 3 parts, with epoch 2. Adds the round to {@link #askedRounds}. */
    @Override
    public Partition partition(long round, Cancellation cancellation) throws IOException {
        if (statusFails) {
            throw new IOException("shard 0 does not respond");
        }
        askedRounds.add(round);
        return new Partition(round, 1, 3, 2);
    }

    @Override
    public JsonNode status() throws IOException {
        statusReads.incrementAndGet();
        if (statusFails) {
            throw new IOException("shard 0 does not respond");
        }
        ObjectNode shard = JsonNodeFactory.instance.objectNode();
        shard.putObject("version").put("min", 7).put("max", 7);
        return JsonNodeFactory.instance.arrayNode().add(shard);
    }

    @Override
    public ShardCounters counters() throws IOException {
        counterReads.incrementAndGet();
        if (statusFails) {
            throw new IOException("shard 0 does not respond");
        }
        return now();
    }

    private ShardCounters now() {
        return new ShardCounters(version, version, 0, 1, true, false, history);
    }

    @Override
    public ShardCounters awaitVersion(long known, Cancellation cancellation) throws IOException {
        versionCalls.incrementAndGet();
        awaitWhile(() -> version == known && versionFailure == null, cancellation);
        IOException failure = versionFailure;
        if (failure != null) {
            throw failure;
        }
        ShardCounters answer = now();
        beforeVersion.getAndSet(() -> {}).run();
        return answer;
    }

    /** Runs an action once, after {@link #awaitVersion} has determined its next result, and before it returns this result. */
    public void beforeNextVersion(Runnable action) {
        beforeVersion.set(action);
    }

    /** Sets the version, and the number of the update history. */
    public void version(long value, long ofHistory) {
        history = ofHistory;
        version = value;
        wake.wake();
    }

    /** Makes requests for the version fail with this exception. With null, the requests succeed again. */
    public void failVersion(IOException failure) {
        versionFailure = failure;
        wake.wake();
    }

    @Override
    public void close() {
        bytes.close();
    }

    private void awaitWhile(BooleanSupplier condition, Cancellation cancellation) throws IOException {
        awaitWhile(condition, Long.MAX_VALUE, cancellation);
    }

    private void awaitWhile(BooleanSupplier condition, long deadlineNs, Cancellation cancellation) throws IOException {
        if (released || !condition.getAsBoolean()) {
            return;
        }
        cancellation.register(wake);
        waiting.incrementAndGet();
        lock.lock();
        try {
            while (!released && condition.getAsBoolean()) {
                if (cancellation.isCancelled()) {
                    throw new CancelledException("the call was cancelled while it waited");
                }
                if (deadlineNs == Long.MAX_VALUE) {
                    changed.await();
                } else {
                    clock.awaitUntil(changed, deadlineNs);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the thread was interrupted while it waited");
        } finally {
            lock.unlock();
            waiting.decrementAndGet();
            cancellation.unregister(wake);
        }
    }

    private void check(long offset, long lengthBytes) {
        if (offset % 4096 != 0 || lengthBytes % 4096 != 0 || lengthBytes <= 0 || offset + lengthBytes > bytes.bytes()) {
            throw new IllegalArgumentException(
                "offset=" + offset + " and lengthBytes=" + lengthBytes
                    + " must be multiples of 4096, and the range must be within the model");
        }
    }
}
