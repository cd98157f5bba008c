package io.modeldisk.admin.overview;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.time.PeriodicThread;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.striping.ShardReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The threads that fill an {@link Overview}: one for each shard, so that a slow shard delays no other, and one that takes the
 * samples. This one wakes the others after each sample, so that all shards are read at the same time.
 * After a read that took long, a thread pauses, so that a shard spends at most a part of its time on its status. Thread-safe.
 */
public final class Watch implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(Watch.class);
    /** The pause after a read is at least this many times as long as the read. */
    private static final int PAUSE = 5;
    private static final Duration MAX_PAUSE = Duration.ofSeconds(10);
    /** The period of a shard's thread. The thread that takes the samples wakes it earlier. */
    private static final Duration UNTIL_WOKEN = Duration.ofDays(1);

    private final NanoClock clock;
    private final Duration period;
    private final Overview overview;
    private final List<PeriodicThread> threads = new ArrayList<>();
    private final List<AutoCloseable> closeables = new ArrayList<>();

    /** Reads the report of a shard. */
    @FunctionalInterface
    public interface ShardSource {
        /**
         * Reads the report. Takes at most a few seconds.
         *
         * @param same facts with which those of the shard must agree; null if no shard has answered yet
         */
        ShardReport read(ModelFacts same) throws IOException;
    }

    /** Creates a watch without threads. {@code period}: the time between two reads, and between two samples. */
    public Watch(NanoClock clock, Duration period, Overview overview) {
        this.clock = clock;
        this.period = period;
        this.overview = overview;
    }

    /** Returns what this watch fills. */
    public Overview overview() {
        return overview;
    }

    /** Reads a shard periodically. */
    public Watch shard(int shard, ShardSource source) {
        overview.watched(shard);
        return every("shard " + shard, () -> {
            try {
                overview.answered(shard, source.read(overview.facts()));
                return PAUSE;
            } catch (IOException | UncheckedIOException e) {
                overview.failed(shard, e.getMessage());
                return 1;
            }
        });
    }

    /** Reads the roles periodically, in the form of {@link Overview#roles}. */
    public Watch roles(Callable<JsonNode> source) {
        return every("roles", () -> {
            try {
                overview.roles(source.call());
                return PAUSE;
            } catch (IOException e) {
                // The first process of a model asks before the model is known, and a coordinator may be away for some time.
                LOG.debug("the roles of the processes cannot be read: {}", e.getMessage());
                return 1;
            }
        });
    }

    /** Reads the status of the mount periodically, in the form of {@link Overview#mount}. */
    public Watch mount(Callable<JsonNode> source) {
        return every("mount", () -> {
            overview.mount(source.call());
            return PAUSE;
        });
    }

    /** Runs a task periodically. It returns the length of the next pause, as a multiple of its own duration. */
    private Watch every(String name, Callable<Integer> task) {
        Paced paced = new Paced(task);
        threads.add(new PeriodicThread("modeldisk-watch " + name, clock, UNTIL_WOKEN, paced));
        return this;
    }

    /** Closes {@code closeable} together with this watch. */
    public Watch with(AutoCloseable closeable) {
        closeables.add(closeable);
        return this;
    }

    /** Starts the threads. Each reads for the first time at once. Returns this object. */
    public Watch start() {
        List<PeriodicThread> readers = List.copyOf(threads);
        readers.forEach(PeriodicThread::start);
        PeriodicThread sampler = new PeriodicThread("modeldisk-watch samples", clock, period, () -> {
            try {
                overview.sample();
            } finally {
                readers.forEach(PeriodicThread::wake);
            }
        });
        sampler.wake();
        threads.add(sampler.start());
        return this;
    }

    /** Ends the threads and closes what they read from. */
    @Override
    public void close() {
        // A thread that waits for a shard ends when its session is closed.
        for (AutoCloseable closeable : closeables) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw new IllegalStateException("cannot close " + closeable, e);
            }
        }
        threads.forEach(PeriodicThread::close);
    }

    /** A task that runs again only after a pause in proportion to its duration. */
    private final class Paced implements Runnable {
        private final Callable<Integer> task;
        private long nextNs;

        Paced(Callable<Integer> task) {
            this.task = task;
            this.nextNs = clock.nanoTime();
        }

        @Override
        public void run() {
            long startNs = clock.nanoTime();
            if (startNs - nextNs < 0) {
                return;
            }
            int pause = PAUSE;
            try {
                pause = task.call();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e.getMessage(), e);
            } finally {
                long endNs = clock.nanoTime();
                nextNs = endNs + Math.min(pause * (endNs - startNs), MAX_PAUSE.toNanos());
            }
        }
    }
}
