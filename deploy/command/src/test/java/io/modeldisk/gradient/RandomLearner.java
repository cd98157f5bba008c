package io.modeldisk.gradient;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.gradient.Gradient.Fate;
import io.modeldisk.gradient.LearnerFile.Way;
import io.modeldisk.mount.exchange.BufferedExchange;
import io.modeldisk.mount.exchange.Dropped;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.ExchangeSettings;
import io.modeldisk.mount.exchange.OnRollback;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.striping.StripedModel;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A learner that pushes a gradient in each round, and reacts randomly to a failed fsync: it repeats the fsync, drops the
 * gradient, or tries to replace the gradient. It records the fate of each gradient, and fails the test if a call fails for a
 * reason that the scenario does not contain.
 */
final class RandomLearner implements AutoCloseable {
    private static final int MAX_DROPS = 2;
    private static final String DISCARDED = "so the gradient is discarded";
    private static final String REFUSED = "has a NaN or an infinity";

    private final Scenario scenario;
    private final StripedModel model;
    private final ScheduledExecutorService timer;
    private final SplittableRandom random;
    private final boolean overlaps;
    private final BufferedExchange exchange;
    private final LearnerFile file;
    private final List<Gradient> history = new ArrayList<>();
    private final List<String> trace = new ArrayList<>();
    /** With overlap, the gradient of the last successful fsync; null if its fate is known. */
    private Gradient pushing;
    private int drops;
    private boolean lastCancelled;

    RandomLearner(Scenario scenario, StripedModel model, ScheduledExecutorService timer, SplittableRandom random)
        throws IOException {
        this.scenario = scenario;
        this.model = model;
        this.timer = timer;
        this.random = random;
        this.overlaps = random.nextBoolean();
        Way way = Way.values()[random.nextInt(Way.values().length)];
        this.exchange = (BufferedExchange) (overlaps ? ExchangeScheme.OVERLAP : ExchangeScheme.SYNC).create(model,
            new ExchangeSettings(PullPolicy.ADAPTIVE, OnRollback.FAIL,
                new IterationTrace(NanoClock.SYSTEM, Instant.now())));
        this.file = new LearnerFile(way, exchange, random.split(), scenario);
        trace.add(way + (overlaps ? " overlap" : " sync"));
    }

    /** Joins the job. All learners join before the first learner trains, so all learners take part in the same rounds. */
    void join() throws IOException {
        if (file.way == Way.MAPPED) {
            exchange.prepareMapped(Cancellation.NONE);
        } else {
            exchange.prepare(true, Cancellation.NONE);
        }
        retried("first pull", () -> exchange.awaitWeights(Cancellation.NONE));
        model.join();
    }

    List<Gradient> history() {
        return history;
    }

    /** Returns what the learner did, for the message of a failed test. */
    String trace() {
        return String.join("\n  ", trace);
    }

    /** Trains until each round of the job has a gradient whose fate is known. */
    void train() throws Exception {
        while (true) {
            while (rounds() + (pushing == null ? 0 : 1) < scenario.rounds()) {
                pause();
                iterate();
            }
            if (pushing == null) {
                break;
            }
            settle();
        }
        if (!scenario.parts()) {
            assertThat(model.nextRound()).as("the next round after %s", trace()).isEqualTo(rounds() + 1);
        }
    }

    private long rounds() {
        return history.stream().filter(Gradient::hasRound).count();
    }

    private void pause() throws InterruptedException {
        if (scenario.pauses() && random.nextInt(4) == 0) {
            TimeUnit.NANOSECONDS.sleep(random.nextLong(2 * scenario.waitTimeout().toNanos()));
        }
    }

    private Gradient next(boolean finite) {
        int from = 0;
        int end = scenario.logicalBlocks();
        if (scenario.parts() && file.way != Way.MAPPED) {
            from = random.nextInt(end);
            end = random.nextInt(from, end) + 1;
        }
        return next(from, end, finite);
    }

    private Gradient next(int from, int end, boolean finite) {
        int values = scenario.dtype() == ValueType.FLOAT32 ? Gradient.FLOAT32_VALUES : Gradient.BFLOAT16_VALUES;
        Gradient gradient = new Gradient(history.size(), from, end, finite, values, random.nextLong());
        history.add(gradient);
        return gradient;
    }

    /**
     * Returns a gradient that replaces another gradient. It has the same blocks, because blocks of the replaced gradient that are
     * not overwritten would also be pushed.
     */
    private Gradient instead(Gradient gradient) {
        return next(gradient.from, gradient.end, true);
    }

    private void iterate() throws IOException {
        if (random.nextInt(3) > 0) {
            retried("read", file::read);
        }
        Gradient gradient = next(random.nextDouble() >= scenario.nonFiniteShare());
        file.write(gradient, false);
        while (gradient != null) {
            IOException failure = fsync(scenario.interrupts() && random.nextInt(2) == 0);
            gradient = failure == null ? succeeded(gradient) : failed(gradient, failure);
        }
    }

    /**
     * Calls fsync. If {@code interrupts} is true, the call is cancelled at a random time. Returns the failure; null if fsync
     * succeeds.
     */
    private IOException fsync(boolean interrupts) {
        Cancellation cancellation = interrupts ? new Cancellation() : Cancellation.NONE;
        Future<?> cancelling = null;
        if (interrupts) {
            long delayUs = random.nextInt(4) == 0 ? 0 : random.nextInt(3000);
            if (delayUs == 0) {
                cancellation.cancel();
            } else {
                cancelling = timer.schedule(cancellation::cancel, delayUs, TimeUnit.MICROSECONDS);
            }
        }
        try {
            exchange.synchronize(cancellation);
            trace.add("fsync");
            return null;
        } catch (IOException e) {
            trace.add("fsync: " + e);
            lastCancelled = e instanceof CancelledException;
            return e;
        } finally {
            if (cancelling != null) {
                cancelling.cancel(false);
            }
        }
    }

    private Gradient succeeded(Gradient gradient) {
        if (!overlaps) {
            pushed(gradient);
            return null;
        }
        if (pushing != null) {
            pushed(pushing);
        }
        pushing = gradient;
        return null;
    }

    private void pushed(Gradient gradient) {
        if (!gradient.finite && scenario.policy() == NonFinite.REFUSE) {
            throw new AssertionError(gradient + " was not refused");
        }
        gradient.becomes(gradient.finite ? Fate.COUNTED : Fate.LEFT_OUT);
    }

    /** Handles a failed fsync. Returns the gradient of the next fsync of the iteration; null if the iteration has ended. */
    private Gradient failed(Gradient gradient, IOException failure) throws IOException {
        if (isRefusal(failure)) {
            return refused(gradient);
        }
        if (failure.getMessage().contains(DISCARDED)) {
            gradient.becomes(Fate.NOTHING);
            return null;
        }
        checkExpected(failure);
        return switch (random.nextInt(6)) {
            case 0 -> {
                // Overwrites the gradient with the same bytes. A learner must not write to a mapped gradient that an fsync might
                // push.
                if (file.way == Way.FILE || overlaps) {
                    file.write(gradient, false);
                }
                yield gradient;
            }
            case 1 -> overlaps ? replaceUnbegun(gradient) : replace(gradient);
            case 2 -> overlaps && file.way == Way.MAPPED && pushing != null ? replace(gradient) : gradient;
            case 3 -> mayDrop() ? drop(gradient) : gradient;
            default -> gradient;
        };
    }

    private boolean isRefusal(IOException failure) {
        assertThat(failure).as("the error of the fsync after a refused flush; %s", trace()).isNotNull();
        return failure.getMessage().contains(REFUSED);
    }

    private Gradient refused(Gradient gradient) {
        Gradient wrong = overlaps ? pushing : gradient;
        assertThat(scenario.policy()).isEqualTo(NonFinite.REFUSE);
        assertThat(wrong.finite).as("%s was refused", wrong).isFalse();
        wrong.becomes(Fate.NOTHING);
        pushing = null;
        return overlaps ? gradient : null;
    }

    /**
     * With overlap, replaces the gradient of a failed fsync by another gradient. The push of the replaced gradient has not begun,
     * because the fsync failed while it waited for the previous exchange.
     */
    private Gradient replaceUnbegun(Gradient gradient) throws IOException {
        gradient.becomes(Fate.NOTHING);
        Gradient other = instead(gradient);
        file.write(other, false);
        trace.add("other gradient " + other.number);
        return other;
    }

    /**
     * Tries to replace a gradient whose push might have begun. With overlap, this is the gradient of the last successful fsync,
     * otherwise that of the failed fsync. Either the replacement is refused with EBUSY, or the shards have applied nothing of the
     * replaced gradient.
     */
    private Gradient replace(Gradient gradient) throws IOException {
        if (file.way != Way.FILE && lastCancelled) {
            return gradient;
        }
        Gradient first = overlaps ? pushing : gradient;
        Gradient other = instead(first);
        trace.add("replaces " + first.number + " by " + other.number);
        file.write(other, overlaps);
        IOException failure = fsync(false);
        if (failure instanceof ErrnoException errno && errno.errno() == Errno.EBUSY) {
            other.becomes(Fate.NOTHING);
            if (random.nextBoolean() && mayDrop()) {
                return drop(gradient);
            }
            file.write(first, overlaps);
            return gradient;
        }
        first.becomes(Fate.NOTHING);
        if (overlaps) {
            pushing = other;
        }
        Gradient next = overlaps ? gradient : other;
        return failure == null ? succeeded(next) : failed(next, failure);
    }

    private boolean mayDrop() {
        return drops < MAX_DROPS;
    }

    private Gradient drop(Gradient gradient) throws IOException {
        dropBegun(overlaps ? pushing : gradient);
        if (overlaps) {
            gradient.becomes(Fate.NOTHING);
        }
        return null;
    }

    /** Drops the gradient whose push might have begun, and records the report of the drop. */
    private void dropBegun(Gradient begun) throws IOException {
        Dropped[] result = new Dropped[1];
        retried("drop", () -> result[0] = exchange.drop(Cancellation.NONE));
        Dropped report = result[0];
        trace.add("drop: " + report);
        long bytes = report.acceptedBytes() + report.leftOutBytes();
        if (bytes == 0) {
            if (begun != null && !overlaps) {
                begun.becomes(Fate.NOTHING);
            }
            return;
        }
        drops++;
        assertThat(bytes).as("the bytes that %s reports", report)
            .isEqualTo((long) (begun.end - begun.from) * LogicalBlock.BYTES);
        if (!begun.finite) {
            assertThat(report.acceptedBytes()).as("the accepted bytes of %s", begun).isZero();
        }
        begun.dropped(report.acceptedBytes());
        pushing = null;
    }

    /** Waits with overlap until the fate of the last gradient is known. */
    private void settle() throws IOException {
        try {
            exchange.flush(Cancellation.NONE);
            trace.add("flush");
            pushed(pushing);
            pushing = null;
            return;
        } catch (IOException e) {
            trace.add("flush: " + e);
            if (isRefusal(e)) {
                // A flush might come from another process that closes a descriptor, so it does not count as a report to the
                // writer. The next fsync must report the refusal again.
                for (IOException again = fsync(false); !isRefusal(again); again = fsync(false)) {
                    checkExpected(again);
                }
                refused(null);
                return;
            }
            checkExpected(e);
        }
        if (file.way == Way.MAPPED || random.nextBoolean() && mayDrop()) {
            dropBegun(pushing);
            return;
        }
        // Nothing was written since the last fsync, so this fsync only repeats the push.
        IOException failure = fsync(false);
        if (failure == null) {
            succeeded(null);
        } else if (isRefusal(failure)) {
            refused(null);
        } else if (!failure.getMessage().contains(DISCARDED)) {
            checkExpected(failure);
        }
    }

    /** A call that can be repeated. */
    private interface Call {
        void run() throws IOException;
    }

    private void retried(String name, Call call) throws IOException {
        while (true) {
            try {
                call.run();
                return;
            } catch (IOException e) {
                trace.add(name + ": " + e);
                checkExpected(e);
            }
        }
    }

    /** Throws the failure unless the scenario contains its reason. */
    private void checkExpected(IOException failure) throws IOException {
        if (scenario.interrupts() && failure instanceof CancelledException) {
            return;
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ShardException ofShard && isExpected(ofShard.kind())) {
                return;
            }
        }
        throw failure;
    }

    private boolean isExpected(ShardException.Kind kind) {
        return switch (kind) {
            case ROUND_TIMEOUT -> scenario.pauses();
            case PATH_LOST -> scenario.cuts();
            default -> false;
        };
    }

    /** Leaves the job. */
    @Override
    public void close() {
        exchange.abandon();
        exchange.close();
        file.close();
        model.close();
    }
}
