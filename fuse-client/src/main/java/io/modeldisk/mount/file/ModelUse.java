package io.modeldisk.mount.file;

import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.mount.fuse.FileHandle;
import io.modeldisk.mount.fuse.OpenRequest;
import io.modeldisk.platform.cancellation.CancellableLock;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.function.IoConsumer;
import io.modeldisk.platform.linux.CallingProcess;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Tracks which processes have a file of the model open. The mount is a learner while a file is open for writing: it joins at the
 * first open for writing, and leaves when the kernel releases the last writable handle, which also happens when the process dies.
 * A learner uses either the file {@code model} or {@code mapped/control}, not both. It is one process with its children: two
 * learners in one mount would mix their gradients, or wait for each other. If the mount is shared, any process is admitted.
 * Thread-safe.
 */
public final class ModelUse {
    private static final Logger LOG = LogManager.getLogger(ModelUse.class);

    private final RemoteModel model;
    private final Exchange exchange;
    private final LearnerPartition partition;
    private final PendingReleases releases;
    // A thread holds this lock while the mount joins or leaves, so an open waits until the previous learner has left.
    private final CancellableLock lock = new CancellableLock();
    // The number of open handles. Guarded by {@code lock}.
    private int handles;
    // The number of writable handles. Writes of this field are guarded by {@code lock}; the status reads it without the lock.
    private volatile int learners;
    /** The name of the file to which all writable handles belong. Guarded by {@code lock}. */
    private String learnersFile;
    // The process that has joined. Writes of this field are guarded by {@code lock}.
    private volatile CallingProcess learnerProcess = CallingProcess.UNKNOWN;
    /** True if unrelated processes can be one learner together. */
    private final boolean shared;
    private final Consumer<CallingProcess> onLearner;

    /**
     * Creates an object for a model whose data is moved by this exchange.
     *
     * @param shared whether a process can open a file for writing while an unrelated process has it open
     * @param onLearner receives each process that joins as the learner
     */
    public ModelUse(RemoteModel model, Exchange exchange, NanoClock clock, boolean shared,
        Consumer<CallingProcess> onLearner) {
        this.model = model;
        this.exchange = exchange;
        this.shared = shared;
        this.onLearner = onLearner;
        this.partition = new LearnerPartition(model, exchange);
        this.releases = new PendingReleases(clock);
    }

    /** Returns the part of the training data that belongs to the learner. */
    LearnerPartition partition() {
        return partition;
    }

    /**
     * Returns the contents of the file {@code partition}: the part of the training data that belongs to the learner in its
     * current iteration.
     */
    public byte[] partitionJson(Cancellation cancellation) throws IOException {
        return partition.toJson(cancellation);
    }

    /** Returns whether a process has a file open for writing. */
    public boolean hasLearner() {
        return learners > 0;
    }

    /** Records that a file was opened for reading. */
    Opened openForReading(Cancellation cancellation) throws IOException {
        try (CancellableLock.Held _ = lock.exclusive(cancellation)) {
            if (handles == 0) {
                exchange.prepare(false, cancellation);
            }
            handles++;
        }
        return new Opened(false);
    }

    /**
     * Records that a file was opened for writing. The first open for writing joins as a learner.
     *
     * @param preparation prepares the exchange for a learner; see {@link Exchange#prepare}
     * @throws ErrnoException EBUSY if another process is the learner, or has another file open for writing; see {@link ModelUse}
     */
    Opened openForLearner(String file, IoConsumer<Cancellation> preparation, OpenRequest request) throws IOException {
        Cancellation cancellation = request.cancellation();
        CallingProcess caller = CallingProcess.ofThread(request.threadId());
        // The next learner can join only after the previous learner has left, which happens at the pending release.
        releases.await(learnerProcess.hasExited(), cancellation);
        try (CancellableLock.Held _ = lock.exclusive(cancellation)) {
            if (learners > 0) {
                ensureSameLearner(caller, file);
            } else {
                becomeLearner(preparation, cancellation);
                learnersFile = file;
                learnerProcess = caller;
                onLearner.accept(caller);
            }
            handles++;
            learners = learners + 1;
        }
        return new Opened(true);
    }

    /**
     * Refuses an open for writing by a process that is not the learner, and the use of two files by the learner. A process that
     * the mount cannot see is accepted: it may be a child of the learner in a container. The caller holds {@code lock}.
     */
    private void ensureSameLearner(CallingProcess caller, String file) throws ErrnoException {
        boolean known = caller.isKnown() && learnerProcess.isKnown();
        if (!shared && known && !caller.isOrDescendsFrom(learnerProcess)) {
            throw new ErrnoException(Errno.EBUSY, (learnerProcess.hasExited() ? "a child of " : "") + learnerProcess
                + " has " + learnersFile
                + " open for writing, and a mount is one learner: mount the model once more for "
                + caller + ", or mount it with --shared if both are one learner");
        }
        if (!learnersFile.equals(file)) {
            throw new ErrnoException(Errno.EBUSY, "a learner has " + learnersFile
                + " open for writing; a learner uses either model or mapped/control");
        }
    }

    /** Sets the process that was the learner when the previous process served the mount. */
    public void resumeLearner(CallingProcess learner) {
        try (CancellableLock.Held _ = lock.exclusive()) {
            learnerProcess = learner;
        }
    }

    /**
     * Records a file that was opened when the previous process served the mount. This process continues that process's learner.
     *
     * @param writable whether the file was opened for writing
     */
    Opened resume(boolean writable, String file) {
        try (CancellableLock.Held _ = lock.exclusive()) {
            handles++;
            if (writable) {
                learners = learners + 1;
                learnersFile = file;
            }
        }
        return new Opened(writable);
    }

    private void becomeLearner(IoConsumer<Cancellation> preparation, Cancellation cancellation) throws IOException {
        model.join();
        partition.learnerJoined();
        try {
            preparation.accept(cancellation);
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

    private void released(boolean writable) {
        try (CancellableLock.Held _ = lock.exclusive()) {
            handles--;
            learners = learners - (writable ? 1 : 0);
            if (writable && learners == 0) {
                exchange.abandon();
                leave();
            }
        }
    }

    /** The base class of handles that pass fsync, close and release on to {@link Opened}. */
    abstract static class Handle implements FileHandle {
        /** Null if this open does not count as a use of the model. */
        final Opened opened;

        Handle(Opened opened) {
            this.opened = opened;
        }

        @Override
        public void synchronize(Cancellation cancellation) throws IOException {
            if (opened != null) {
                opened.synchronize(cancellation);
            }
        }

        @Override
        public void flush(Cancellation cancellation) throws IOException {
            if (opened != null) {
                opened.flush(cancellation);
            }
        }

        @Override
        public void release() {
            if (opened != null) {
                opened.release();
            }
        }
    }

    /** An open handle of a file. */
    final class Opened {
        private final boolean writable;
        // True after a close(2), while the release of this handle is pending. Writes of this field are guarded by the monitor of
        // this object.
        private volatile boolean flushed;

        private Opened(boolean writable) {
            this.writable = writable;
        }

        /**
         * Records that no release is pending: if the handle is used after a close(2), another descriptor of the handle is still
         * open.
         */
        void inUse() {
            if (flushed) {
                setFlushed(false);
            }
        }

        /** Handles an fsync(2). */
        void synchronize(Cancellation cancellation) throws IOException {
            inUse();
            if (writable) {
                exchange.synchronize(cancellation);
            } else {
                exchange.refresh(cancellation);
            }
        }

        /** Handles a close(2) of a descriptor. */
        void flush(Cancellation cancellation) throws IOException {
            setFlushed(true);
            if (writable) {
                exchange.flush(cancellation);
            }
        }

        /** Handles the release of this handle by the kernel. */
        void release() {
            released(writable);
            setFlushed(false);
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
