package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.CancellableLock;
import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.VersionProbe;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The file a learner trains with: read is a pull, write a push, fsync the end of an iteration. Whoever has it open for writing
 * makes the mount a learner; when the last of them is gone, killed or not, the mount leaves its rounds.
 */
public final class ModelFile implements MountedFile {
    private static final Logger LOG = LogManager.getLogger(ModelFile.class);
    // The kernel sends the release just after close(2) has returned; none comes if the descriptor was a duplicate.
    private static final long RELEASE_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final RemoteModel model;
    private final Exchange exchange;
    private final FixedSize size;
    private final ModelAttributes attributes;
    // Held while joining and leaving: an open that meets a leave waits for it, and then joins.
    private final CancellableLock lock = new CancellableLock();
    private int handles;
    // Changes under the lock only; read without it, for the status.
    private volatile int learners;
    private final NanoClock clock;
    private final ReentrantLock releases = new ReentrantLock();
    private final Condition released = releases.newCondition();
    private final Cancellation.Waiter wakeOpens = Cancellation.signalling(releases, released);
    // Writable handles that a process has closed and the kernel has not released yet; changes under the lock.
    private volatile int closing;

    /** The file of this model, with this way to move its data. */
    public ModelFile(RemoteModel model, Exchange exchange, NanoClock clock) {
        this.model = model;
        this.clock = clock;
        this.exchange = exchange;
        this.size = new FixedSize(name(), model.facts().sizeBytes(), clock);
        this.attributes = new ModelAttributes(exchange, new VersionProbe(model, clock));
    }

    @Override
    public String name() {
        return MountEntry.MODEL.fileName();
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public boolean movesData() {
        return true;
    }

    @Override
    public long sizeBytes() {
        return size.bytes();
    }

    @Override
    public long modifiedMs() {
        return size.modifiedMs();
    }

    @Override
    public List<String> attributeNames() {
        return attributes.names();
    }

    @Override
    public Optional<String> attribute(String name) {
        return attributes.value(name);
    }

    /** Whether somebody has it open for writing. */
    public boolean hasLearner() {
        return learners > 0;
    }

    @Override
    public FileHandle open(boolean writable, Cancellation cancellation) throws IOException {
        if (writable) {
            awaitReleases(cancellation);
        }
        long stamp = lock.lockExclusive(cancellation);
        try {
            if (writable && learners == 0) {
                becomeLearner(cancellation);
            } else if (handles == 0) {
                exchange.prepare(false, cancellation);
            }
            handles++;
            learners = learners + (writable ? 1 : 0);
        } finally {
            lock.unlock(stamp);
        }
        return new Handle(writable);
    }

    /** A learner that opens the file after another has closed it is a new one, even if the release is still to come. */
    private void awaitReleases(Cancellation cancellation) throws IOException {
        if (closing == 0) {
            return;
        }
        long deadlineNs = clock.nanoTime() + RELEASE_WAIT_NS;
        cancellation.register(wakeOpens);
        releases.lock();
        try {
            while (closing > 0 && !cancellation.isCancelled() && clock.awaitUntil(released, deadlineNs)) {
                // Woken by a release or a cancellation.
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the thread was interrupted while it waited for a closed learner");
        } finally {
            releases.unlock();
            cancellation.unregister(wakeOpens);
        }
    }

    private void becomeLearner(Cancellation cancellation) throws IOException {
        model.join();
        try {
            exchange.prepare(true, cancellation);
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            leave();
            throw e;
        }
    }

    private void leave() {
        try {
            model.leave();
        } catch (IOException e) {
            LOG.warn("the learner's rounds could not be left, the shards will notice by its lease: {}", e.getMessage());
        }
    }

    private void handleReleased(boolean writable) {
        long stamp = lock.lockExclusive();
        try {
            handles--;
            learners = learners - (writable ? 1 : 0);
            if (writable && learners == 0) {
                exchange.abandon();
                leave();
            }
        } finally {
            lock.unlock(stamp);
        }
    }

    private final class Handle implements FileHandle {
        private final boolean writable;
        // Changes under the lock of the releases.
        private volatile boolean flushed;

        Handle(boolean writable) {
            this.writable = writable;
        }

        @Override
        public void read(long offset, int lengthBytes, DataRequest request) throws IOException {
            inUse();
            int within = size.readable(offset, lengthBytes);
            if (within > 0) {
                exchange.read(offset, within, request);
            }
        }

        @Override
        public int write(long offset, int lengthBytes, DataRequest request) throws IOException {
            inUse();
            int within = exchange.writable(offset, size.writable(offset, lengthBytes));
            if (within > 0) {
                exchange.write(offset, within, request);
                size.modified();
            }
            return within;
        }

        @Override
        public void synchronize(Cancellation cancellation) throws IOException {
            inUse();
            if (writable) {
                exchange.synchronize(cancellation);
            } else {
                exchange.refresh(cancellation);
            }
        }

        @Override
        public void flush(Cancellation cancellation) throws IOException {
            setFlushed(true);
            if (writable) {
                exchange.flush(cancellation);
            }
        }

        @Override
        public void release() {
            handleReleased(writable);
            setFlushed(false);
        }

        /** A handle that goes on after a flush had a second descriptor: no release is near. */
        private void inUse() {
            if (flushed) {
                setFlushed(false);
            }
        }

        private void setFlushed(boolean now) {
            releases.lock();
            try {
                if (writable && flushed != now) {
                    closing += now ? 1 : -1;
                    flushed = now;
                    released.signalAll();
                }
            } finally {
                releases.unlock();
            }
        }
    }
}
