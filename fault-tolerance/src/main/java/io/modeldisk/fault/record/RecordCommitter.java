package io.modeldisk.fault.record;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** The thread of a {@link RecordLog} that gives the records to the sinks. Offers a batch again until each sink has kept it. */
final class RecordCommitter {
    private static final Logger LOG = LogManager.getLogger(RecordCommitter.class);
    private static final Duration RETRY_DELAY = Duration.ofMillis(200);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

    private final RecordLog log;
    private final List<RecordSink> sinks;
    private final NanoClock clock;
    private final Consumer<Throwable> lost;
    private final Thread thread;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    // For each sink, whether the sink has begun, or has kept, the current batch. Used only by the committer's thread.
    private final boolean[] begun;
    private final boolean[] kept;
    private String failure;

    /** Creates the thread. If the thread fails, it calls {@code lost} before any task is notified of the failure. */
    RecordCommitter(RecordLog log, List<RecordSink> sinks, NanoClock clock, Consumer<Throwable> lost, String name) {
        this.log = log;
        this.lost = lost;
        this.sinks = List.copyOf(sinks);
        this.clock = clock;
        this.begun = new boolean[sinks.size()];
        this.kept = new boolean[sinks.size()];
        this.thread = ThreadName.RECORDS.builder(name).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    Thread thread() {
        return thread;
    }

    private void run() {
        try {
            RecordBuffer buffer = log.next();
            while (buffer != null && keep(buffer.seal())) {
                log.committed(buffer);
                buffer = log.next();
            }
        } catch (RuntimeException | Error e) {
            failed(e);
        } finally {
            ended.complete(null);
        }
    }

    /** Reports the failure of this thread. Without the thread, no record is kept any more, so the shard cannot serve. */
    private void failed(Throwable reason) {
        try {
            lost.accept(reason);
        } finally {
            log.failed("the thread " + thread.getName() + " has failed: " + reason, Duration.ZERO);
        }
    }

    /** Offers a batch to the sinks until all of them have stored it. Returns false if the log was closed before that. */
    private boolean keep(RecordBatch batch) {
        for (int i = 0; i < kept.length; i++) {
            kept[i] = false;
        }
        while (!offer(batch)) {
            if (!log.failed(failure, RETRY_DELAY)) {
                LOG.error("the records {} to {} are lost, because the shard ends while a sink fails: {}",
                    batch.firstPosition(), batch.lastPosition(), failure);
                return false;
            }
        }
        if (failure != null) {
            LOG.info("all sinks keep records again; the shard accepts changes");
            failure = null;
        }
        return true;
    }

    /** Gives a batch to the sinks that have not kept it yet. Returns whether all sinks have kept it now. */
    private boolean offer(RecordBatch batch) {
        boolean all = true;
        for (int i = 0; i < begun.length; i++) {
            begun[i] = !kept[i] && begin(sinks.get(i), batch);
        }
        for (int i = 0; i < begun.length; i++) {
            kept[i] |= begun[i] && finish(sinks.get(i));
            all &= kept[i];
        }
        return all;
    }

    private boolean begin(RecordSink sink, RecordBatch batch) {
        try {
            sink.begin(batch);
            return true;
        } catch (IOException | RuntimeException | Error e) {
            report(sink, e);
            return false;
        }
    }

    private boolean finish(RecordSink sink) {
        try {
            sink.finish();
            return true;
        } catch (IOException | RuntimeException | Error e) {
            report(sink, e);
            return false;
        }
    }

    private void report(RecordSink sink, Throwable reason) {
        String words = sink.name() + ": " + (reason instanceof IOException ? reason.getMessage() : reason.toString());
        if (!words.equals(failure)) {
            failure = words;
            LOG.error(
                "the records of the shard cannot be kept; the shard refuses pushes, and tries again every {} ms: {}",
                RETRY_DELAY.toMillis(), words, reason instanceof IOException ? null : reason);
        }
    }

    /** Waits until the thread has passed all records to the sinks. Closes the sinks. Returns whether the thread has ended. */
    boolean end() {
        boolean inTime = awaitEnd();
        for (RecordSink sink : sinks) {
            try {
                sink.close();
            } catch (RuntimeException e) {
                LOG.error("the sink {} could not be closed", sink.name(), e);
            }
        }
        if (inTime || awaitEnd()) {
            return true;
        }
        LOG.error("the thread {} still waits for a sink, although the log was closed", thread.getName());
        return false;
    }

    private boolean awaitEnd() {
        try {
            return FutureWait.isDoneWithin(ended, STOP_TIMEOUT, clock);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
