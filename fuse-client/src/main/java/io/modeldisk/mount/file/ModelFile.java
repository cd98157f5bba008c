package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.CancellableLock;
import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.exchange.VersionProbe;
import io.modeldisk.mount.fuse.DataRequest;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.MountedFile;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The file {@code model}. A read returns weights, a write accepts a gradient, and an fsync ends the iteration. The mount is a
 * learner while a process has the file open for writing. The mount joins the rounds at the first open for writing. The mount
 * leaves when the kernel releases the last writable handle, which also happens when the process dies.
 */
public final class ModelFile implements MountedFile {
    private static final Logger LOG = LogManager.getLogger(ModelFile.class);

    private final RemoteModel model;
    private final Exchange exchange;
    private final FixedSize size;
    private final LearnerPartition partition;
    private final ModelAttributes attributes;
    private final PendingReleases releases;
    // A thread holds this lock while the mount joins or leaves, so that an open waits until the previous learner has left.
    private final CancellableLock lock = new CancellableLock();
    // The number of open handles. Guarded by {@code lock}.
    private int handles;
    // The number of writable handles. Writes of this field are guarded by {@code lock}; the status reads it without the lock.
    private volatile int learners;

    /** Creates the file of this model. The exchange moves the data of the file. */
    public ModelFile(RemoteModel model, Exchange exchange, NanoClock clock) {
        this.model = model;
        this.releases = new PendingReleases(clock);
        this.exchange = exchange;
        this.size = new FixedSize(name(), model.facts().sizeBytes(), clock);
        this.partition = new LearnerPartition(model, exchange);
        this.attributes = new ModelAttributes(exchange, new VersionProbe(model, clock), partition);
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

    /**
     * Returns the contents of the file {@code partition}: the part of the training data that belongs to the learner in its
     * current iteration.
     */
    public byte[] partitionJson(Cancellation cancellation) throws IOException {
        return partition.toJson(cancellation);
    }

    /** Returns whether a process has the file open for writing. */
    public boolean hasLearner() {
        return learners > 0;
    }

    @Override
    public FileHandle open(boolean writable, Cancellation cancellation) throws IOException {
        if (writable) {
            // The previous learner must have left before the next learner joins.
            releases.await(cancellation);
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

    private void becomeLearner(Cancellation cancellation) throws IOException {
        model.join();
        partition.learnerJoined();
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
            LOG.warn("the learner could not leave: {}; the shards remove the learner when its lease expires",
                e.getMessage());
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
        // Whether the release of this handle is pending. Writes of this field are guarded by the monitor of the handle.
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

        /** Records that no release is pending. A handle that is used after a flush still has an open descriptor. */
        private void inUse() {
            if (flushed) {
                setFlushed(false);
            }
        }

        private void setFlushed(boolean now) {
            synchronized (this) {
                if (writable && flushed != now) {
                    releases.add(now ? 1 : -1);
                    flushed = now;
                }
            }
        }
    }
}
