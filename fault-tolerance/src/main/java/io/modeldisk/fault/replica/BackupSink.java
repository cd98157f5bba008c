package io.modeldisk.fault.replica;

import io.modeldisk.fault.record.RecordBatch;
import io.modeldisk.fault.record.RecordSink;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The backups of a shard as a sink of its records. A batch is durable when every backup that is still in sync has applied the
 * batch. A stream that is added gets its first batch at the next {@link #begin}. Thread-safe.
 */
final class BackupSink implements RecordSink {
    /** Informs the coordinator which backups lack records. */
    interface Losses {
        /**
         * Called before the first records count as durable. Backups without a stream do not have these records.
         *
         * @throws IOException if the coordinator cannot be informed now; the sink tries again
         */
        void begins() throws IOException;

        /**
         * Makes sure that the backup does not become the primary. Afterwards, records count as durable without this backup.
         *
         * @throws IOException if this is not possible now; the sink tries again
         */
        void lost(BackupStream stream, IOException reason) throws IOException;
    }

    private static final Logger LOG = LogManager.getLogger(BackupSink.class);
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Losses losses;
    private final NanoClock clock;
    private final ScopedLock lock = new ScopedLock();
    private final Condition ended = lock.newCondition();
    /** Guarded by lock. */
    private boolean ending;
    /** The streams that get the next batch. Guarded by lock. */
    private final List<BackupStream> added = new ArrayList<>();
    // Used only by the thread that sends batches.
    private final List<BackupStream> streams = new CopyOnWriteArrayList<>();
    private final List<Loss> failed = new ArrayList<>();
    private int sending;
    private boolean begun;

    private record Loss(BackupStream stream, IOException reason) {}

    BackupSink(Losses losses, NanoClock clock) {
        this.losses = losses;
        this.clock = clock;
    }

    @Override
    public String name() {
        return "backup";
    }

    /** Sends the following batches to this backup too. Records that are appended after this call are in these batches. */
    void add(BackupStream stream) {
        try (ScopedLock.Held _ = lock.hold()) {
            added.add(stream);
        }
    }

    @Override
    public void begin(RecordBatch batch) {
        try (ScopedLock.Held _ = lock.hold()) {
            streams.addAll(added);
            added.clear();
        }
        sending = streams.size();
        for (int i = 0; i < sending; i++) {
            try {
                streams.get(i).send(batch);
            } catch (IOException e) {
                // await() throws the same exception for this stream.
            }
        }
    }

    @Override
    public void finish() throws IOException {
        for (int i = sending - 1; i >= 0; i--) {
            try {
                streams.get(i).await();
            } catch (IOException e) {
                failed.add(new Loss(streams.remove(i), e));
            }
        }
        String reported = null;
        while (!begun || !failed.isEmpty()) {
            try {
                tell();
            } catch (IOException e) {
                if (!e.getMessage().equals(reported)) {
                    reported = e.getMessage();
                    LOG.warn("pushes wait until the coordinator knows which backups lack them: {}", reported);
                }
                if (!pause()) {
                    throw e;
                }
            }
        }
    }

    /** Informs the coordinator that the records begin or, later, that one backup is lost. */
    private void tell() throws IOException {
        if (!begun) {
            losses.begins();
            begun = true;
        } else {
            losses.lost(failed.getLast().stream(), failed.getLast().reason());
            failed.removeLast();
        }
    }

    /** Waits before the next attempt to inform the coordinator. Returns false if there must be no other attempt. */
    private boolean pause() {
        long deadlineNs = clock.nanoTime() + RETRY_NS;
        lock.lock();
        try {
            boolean inTime = true;
            while (!ending && inTime) {
                inTime = clock.awaitUntil(ended, deadlineNs);
            }
            return !ending;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** From now on, a batch fails at once if the coordinator cannot be informed of a lost backup. */
    void end() {
        try (ScopedLock.Held _ = lock.hold()) {
            ending = true;
            ended.signalAll();
        }
    }

    /** Closes all streams. A batch in progress fails. */
    @Override
    public void close() {
        end();
        try (ScopedLock.Held _ = lock.hold()) {
            added.forEach(BackupStream::close);
        }
        streams.forEach(BackupStream::close);
    }
}
