package io.modeldisk.fault.replica;

import io.modeldisk.fault.record.BlockStamps;
import io.modeldisk.fault.record.RecordBacklog;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ThreadName;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Keeps one backup up to date, in a thread of its own.
 *
 * <pre>
 *            stream open                 all images are durable
 *   AWAY -----------------> CATCHING_UP ------------------------> IN_SYNC
 *    ^                           |                                   |
 *    +---------------------------+-----------------------------------+
 *        the stream has failed, or the backup was late
 * </pre>
 */
final class BackupConnection implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(BackupConnection.class);
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(250);
    /** Images of blocks that are not durable yet take at most one eighth of a buffer, so there is room for pushes. */
    private static final int IMAGES_PART = 8;

    /** The states of a backup. */
    enum State {
        /** No stream to the backup is open. */
        AWAY,
        /** The backup gets all records, but not all of its blocks are current. */
        CATCHING_UP,
        /** The backup has all records, and may become the primary. */
        IN_SYNC
    }

    private final Backups backups;
    private final Backup peer;
    private final Thread thread;
    private final ScopedLock lock = new ScopedLock();
    private final Condition changed = lock.newCondition();
    // Guarded by lock.
    private State state = State.AWAY;
    private BackupStream stream;
    private String reason = "the connection is not open yet";
    /** False if the coordinator does not list the backup. The connection then ends with its stream. */
    private boolean listed = true;
    private boolean closed;
    private volatile int imagesLeft;

    BackupConnection(Backups backups, Backup peer) {
        this.backups = backups;
        this.peer = peer;
        this.thread = ThreadName.BACKUP.builder(peer.name()).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    Backup peer() {
        return peer;
    }

    private void run() {
        String reported = null;
        try {
            while (!isClosed()) {
                try {
                    follow();
                    reported = null;
                } catch (IOException | RuntimeException | Error e) {
                    String text = e instanceof IOException && e.getMessage() != null ? e.getMessage() : e.toString();
                    if (!isClosed() && !text.equals(reported)) {
                        reported = text;
                        // The thread tries again even after an error in modeldisk, because the shard needs its backup.
                        LOG.warn("backup {} at {} is not in sync; the primary tries again: {}", peer.name(),
                            peer.address(), text, e instanceof IOException ? null : e);
                    }
                    disconnect(text);
                }
                pause();
            }
        } catch (InterruptedException e) {
            // close() has interrupted the thread, which ends.
        }
        // The stream of a backup in sync stays open, so the log can send the last records. The sink closes it.
        if (currentState() != State.IN_SYNC) {
            disconnect("the primary has stopped");
            backups.forget(this);
        }
    }

    private State currentState() {
        try (ScopedLock.Held _ = lock.hold()) {
            return state;
        }
    }

    /** Opens a stream, sends the blocks that the backup lacks, and waits until the stream fails. */
    private void follow() throws IOException, InterruptedException {
        BackupStream opened = backups.open(peer);
        try (ScopedLock.Held _ = lock.hold()) {
            stream = opened;
            state = State.CATCHING_UP;
            changed.signalAll();
        }
        BlockStamps theirs = opened.readStamps(backups.source().stamps().blocks());
        // The backup must not become the primary now, because the records change its blocks one after another.
        backups.members().remove(peer.name());
        backups.sink().add(opened);
        int sent = sendBlocks(opened, theirs);
        try (ScopedLock.Held _ = lock.hold()) {
            checkOpen(opened);
            backups.members().add(peer.name());
            state = State.IN_SYNC;
            changed.signalAll();
            LOG.info("backup {} is in sync; {} of {} sent", peer.name(), sent,
                Plural.counted(backups.source().stamps().blocks(), "block"));
            while (state == State.IN_SYNC && !closed) {
                changed.await();
            }
            throw new IOException(reason);
        }
    }

    private int sendBlocks(BackupStream opened, BlockStamps theirs) throws IOException, InterruptedException {
        BackupSource source = backups.source();
        RecordLog log = backups.log();
        source.appendRoster(log);
        long limitBytes = backups.bufferBytes() / IMAGES_PART;
        long pendingBytes = 0;
        long last = 0;
        int sent = 0;
        for (int i = 0; i < source.stamps().blocks(); i++) {
            imagesLeft = source.stamps().blocks() - i;
            ShardBlock block = source.block(i);
            try (ScopedLock.Held _ = block.hold()) {
                if (source.stamps().is(i, theirs.epoch(i), theirs.position(i))) {
                    last = BlockImage.appendStamp(log, i, source.stamps());
                } else {
                    BlockImage.append(log, block, source.stamps());
                    last = source.appendBlock(log, block);
                    pendingBytes += BlockImage.recordBytes(block);
                    sent++;
                }
            }
            if (pendingBytes >= limitBytes) {
                awaitDurable(opened, log, last);
                pendingBytes = 0;
            }
        }
        awaitDurable(opened, log, last);
        imagesLeft = 0;
        return sent;
    }

    private void awaitDurable(BackupStream opened, RecordLog log, long position)
        throws IOException, InterruptedException {
        Duration slice = Duration.ofSeconds(1);
        while (!log.awaitDurable(position, slice)) {
            try (ScopedLock.Held _ = lock.hold()) {
                checkOpen(opened);
            }
        }
    }

    private void checkOpen(BackupStream opened) throws IOException {
        if (closed || stream != opened || state == State.AWAY) {
            throw new IOException(reason);
        }
    }

    /**
     * Handles the failure of a stream. Does nothing if the stream does not belong to this connection. If the backup was in sync,
     * this method removes it at the coordinator. The caller must then call {@link BackupMembers#removeUnconfirmed}, because
     * the coordinator might have added the backup without an answer to this process.
     *
     * @throws IOException if the coordinator did not confirm; the state is then unchanged
     */
    void lost(BackupStream failed, IOException why) throws IOException {
        try (ScopedLock.Held _ = lock.hold()) {
            if (stream != failed || state == State.AWAY) {
                return;
            }
            if (state == State.IN_SYNC) {
                backups.members().remove(peer.name());
                LOG.warn("backup {} is no longer in sync: {}", peer.name(), why.getMessage());
            }
            state = State.AWAY;
            reason = why.getMessage();
            endIfGone();
            changed.signalAll();
        }
    }

    /** Ends the thread if the coordinator does not list the backup and no stream is open. */
    private void endIfGone() {
        if (!listed && state == State.AWAY) {
            closed = true;
            changed.signalAll();
            thread.interrupt();
        }
    }

    /** Removes the backup at the coordinator if it was in sync. Then lets the thread close the stream and connect again. */
    void restart(String why) throws IOException {
        BackupStream current;
        try (ScopedLock.Held _ = lock.hold()) {
            current = stream;
        }
        if (current != null) {
            lost(current, new IOException(why));
        }
    }

    private boolean isClosed() {
        try (ScopedLock.Held _ = lock.hold()) {
            return closed;
        }
    }

    /** Closes a stream that has failed. The sink no longer uses the stream, unless the whole log is closed. */
    private void disconnect(String why) {
        BackupStream ended;
        try (ScopedLock.Held _ = lock.hold()) {
            ended = stream;
            reason = why;
            if (state != State.IN_SYNC) {
                state = State.AWAY;
                endIfGone();
            }
        }
        if (ended != null) {
            ended.close();
        }
    }

    private void pause() throws InterruptedException {
        long deadlineNs = backups.clock().nanoTime() + RETRY_NS;
        try (ScopedLock.Held _ = lock.hold()) {
            boolean inTime = true;
            while (!closed && inTime) {
                inTime = backups.clock().awaitUntil(changed, deadlineNs);
            }
        }
    }

    /** The progress of this backup. */
    BackupStatus status() {
        try (ScopedLock.Held _ = lock.hold()) {
            RecordBacklog behind = state == State.AWAY || stream == null
                ? null
                : backups.log().after(stream.appliedPosition());
            return new BackupStatus(peer.name(), peer.address().getHostString() + ":" + peer.address().getPort(),
                state == State.IN_SYNC, behind, imagesLeft, state == State.AWAY ? reason : null);
        }
    }

    /**
     * Notes whether the coordinator lists the backup. A backup that is not listed has stopped, or has lost only its connection
     * with the coordinator. Its stream is used as long as it is open, but is not opened again.
     *
     * @return whether the connection is still in use
     */
    boolean list(boolean now) {
        lock.lock();
        try {
            listed = now;
            if (!listed && stream != null && !stream.isOpen()) {
                lost(stream, new IOException("the process has ended"));
            }
            endIfGone();
            return !closed;
        } catch (IOException e) {
            LOG.debug("the coordinator has not confirmed the end of backup {}: {}", peer.name(), e.toString());
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Stops the thread. A backup that was in sync remains in sync at the coordinator. */
    @Override
    public void close() {
        try (ScopedLock.Held _ = lock.hold()) {
            closed = true;
            changed.signalAll();
        }
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
