package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.StatefulVerbCall;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.time.NanoClock;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The queue pair of a reliable connection, with its completion queue. Any number of threads post requests and wait. One of the
 * waiting threads polls the completion queue for all threads.
 *
 * <p>Thread-safe. A thread may post and wait only during a {@link Use}. The resources are released when the queue pair is closed
 * and the last use has ended. Only the constructor allocates memory.
 */
public final class QueuePair implements AutoCloseable {
    /** The maximum length of an inline message. Its bytes are copied into the request, so the device need not fetch them. */
    public static final int INLINE_BYTES = 192;

    private static final Logger LOG = LogManager.getLogger(QueuePair.class);
    private static final long QUIET_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    /** A check of the connection, which runs repeatedly while no completion arrives. */
    @FunctionalInterface
    public interface IdleCheck {
        /** Checks the connection. A waiting thread calls this method. The method is allowed to close the queue pair. */
        void idle() throws IOException;
    }

    /** Releases a resource of a queue pair after the queue pair was destroyed. */
    @FunctionalInterface
    public interface Release {
        /** Releases the resource. This method is called once. */
        void release() throws IOException;
    }

    /** A period, begun by {@link #enter}, in which a thread uses the queue pair, so its resources are not released. */
    @FunctionalInterface
    public interface Use extends AutoCloseable {
        /** Ends the use. */
        @Override
        void close();
    }

    /**
     * The states of a queue pair.
     *
     * <pre>
     *   OPEN ── closed by this process or the peer, or failed ──> CLOSED ── not used by a thread ──> RELEASED
     * </pre>
     */
    private enum State {
        OPEN, CLOSED, RELEASED
    }

    private final RdmaDomain domain;
    private final String peer;
    private final NanoClock clock;
    private final VerbsQueue verbs;
    private volatile IdleCheck idleCheck = () -> {};

    private final ScopedLock lock = new ScopedLock();
    private final Condition changed = lock.newCondition();
    private final Use use = this::exit;
    // Guarded by {@code lock}.
    private final WorkTable works;
    private State state = State.OPEN;
    private int users;
    private boolean polling;
    private IOException failure;

    /**
     * Creates a queue pair on the device of an identifier. The queue pair owns the identifier.
     *
     * @param sendRequests the maximum number of requests in flight, without the receives
     * @param receives the maximum number of posted receives
     * @param peer the name of the peer for messages
     * @throws IOException if the device refuses the queue pair; in this case, the caller still owns the identifier
     */
    public QueuePair(RdmaDomain domain, RdmaCmId id, int sendRequests, int receives, String peer, NanoClock clock)
        throws IOException {
        this.domain = domain;
        this.peer = peer;
        this.clock = clock;
        this.works = new WorkTable(sendRequests, receives);
        this.verbs = new VerbsQueue(domain, id, sendRequests, receives);
    }

    /** Sets the check that runs while no completion arrives. */
    public void idleCheck(IdleCheck check) {
        idleCheck = check;
    }

    /** Adds a {@link Release}, which runs after the queue pair was destroyed. The release that was added last runs first. */
    public void releaseAtEnd(Release release) {
        verbs.releaseAtEnd(release);
    }

    /** Returns the maximum number of bytes of a request with the flag {@link IbvSendWR#IBV_SEND_INLINE}. */
    public int inlineBytes() {
        return verbs.inlineBytes();
    }

    /** Returns the protection domain of the device. */
    public RdmaDomain domain() {
        return domain;
    }

    /** Returns the name of the peer for messages. */
    public String peer() {
        return peer;
    }

    /** Returns the clock of this connection. */
    public NanoClock clock() {
        return clock;
    }

    /** Adds a work request, and assigns a number to it. Must be called before any request is posted. */
    public <W extends Work> W add(W work) {
        return works.add(work);
    }

    /** Prepares a chain of requests for {@link #post}. */
    public SVCPostSend prepare(IbvSendWR... chain) throws IOException {
        return verbs.prepare(chain);
    }

    /** Prepares a receive into one range of memory for {@link #postReceive}. */
    public SVCPostRecv prepareReceive(Work work, long address, int bytes, int localKey) throws IOException {
        return verbs.prepareReceive(work, address, bytes, localKey);
    }

    /** Adds a user of the queue pair. The resources are not released before the user closes the result. */
    public Use enter() throws IOException {
        try (Held _ = lock.hold()) {
            checkOpen();
            users++;
            return use;
        }
    }

    private void exit() {
        try (Held _ = lock.hold()) {
            users--;
            releaseIfUnused();
        }
    }

    private void checkOpen() throws IOException {
        if (state != State.OPEN) {
            if (failure == null) {
                throw new ClosedChannelException();
            }
            throw failure;
        }
    }

    /**
     * Posts a prepared chain of which only the last request is signaled. The queue must have free slots for the chain, and no
     * other thread may post at the same time.
     *
     * @param work the work request that completes together with the chain and all unsignaled requests that were posted earlier
     * @param requests the number of requests in the chain
     * @return the turn for {@link #awaitEnd}, which is the number of this use of the work request
     */
    public int post(SVCPostSend chain, Work work, int requests) throws IOException {
        int turn;
        try (Held _ = lock.hold()) {
            checkOpen();
            turn = works.begin(work, requests);
        }
        execute(chain, work);
        return turn;
    }

    /**
     * Posts a request that is not signaled. The request completes, and its slot becomes free, together with the next request that
     * {@link #post} posts. The queue must have a free slot, and no other thread may post at the same time.
     */
    public void postUnsignaled(SVCPostSend request) throws IOException {
        try (Held _ = lock.hold()) {
            checkOpen();
            works.beginUnsignaled();
        }
        execute(request, null);
    }

    /** Posts a prepared receive. */
    public void postReceive(SVCPostRecv receive, Work work) throws IOException {
        try (Held _ = lock.hold()) {
            checkOpen();
            works.beginReceive(work);
        }
        execute(receive, work);
    }

    /** Executes a call. {@code work} is null for a request that is not signaled. */
    private void execute(StatefulVerbCall<?> call, Work work) throws IOException {
        try {
            call.execute();
        } catch (IOException e) {
            try (Held _ = lock.hold()) {
                if (work != null) {
                    works.takeBack(work);
                }
                fail(new IOException(peer + ": " + e.getMessage(), e));
            }
            throw e;
        }
    }

    /** Waits until the queue has free slots for {@code requests} requests. */
    public void awaitRoom(int requests) throws IOException {
        try (Held _ = lock.hold()) {
            while (!works.hasRoom(requests)) {
                checkOpen();
                pollOrWait();
            }
        }
    }

    /**
     * Waits until use number {@code turn} of a work request has completed. Throws an exception if the queue pair is closed. A
     * failed request also closes the queue pair.
     */
    public void awaitEnd(Work work, int turn) throws IOException {
        try (Held _ = lock.hold()) {
            while (!work.isOver(turn)) {
                checkOpen();
                pollOrWait();
            }
            // Closing the connection completes the work request too, but as a failure.
            checkOpen();
        }
    }

    /** Waits for the end of the current use of a work request. {@link #awaitArrival} does not return this use later. */
    public void withdraw(Work work) {
        awaitOver(work);
        try (Held _ = lock.hold()) {
            works.removeArrival(work);
        }
    }

    /** Waits until the current use of a work request has completed, with or without success. The wait has a time limit. */
    public void awaitOver(Work work) {
        int turn;
        try (Held _ = lock.hold()) {
            turn = work.turn();
        }
        awaitOver(work, turn);
    }

    /**
     * Waits until use number {@code turn} of a work request has completed, with or without success. The wait has a time limit. If
     * the device exceeds the limit, this method closes the connection, which completes all work requests.
     */
    public void awaitOver(Work work, int turn) {
        lock.lock();
        try {
            users++;
            boolean closing = false;
            long deadlineNs = clock.nanoTime() + QUIET_TIMEOUT_NS;
            while (state != State.RELEASED && !work.isOver(turn)) {
                if (clock.nanoTime() - deadlineNs > 0) {
                    if (closing) {
                        LOG.error("{}: the device did not complete a request after the connection was closed", peer);
                        return;
                    }
                    closing = true;
                    deadlineNs = clock.nanoTime() + QUIET_TIMEOUT_NS;
                    fail(new IOException(peer + ": the device did not complete a request within "
                        + TimeUnit.NANOSECONDS.toSeconds(QUIET_TIMEOUT_NS) + " s"));
                }
                pollOrWait();
            }
        } catch (IOException e) {
            LOG.debug("{}: {}", peer, e.toString());
        } finally {
            users--;
            releaseIfUnused();
            lock.unlock();
        }
    }

    /** Waits until a work request that was created with {@code arrives} has completed. Returns the work request. */
    public Work awaitArrival() throws IOException {
        lock.lock();
        try {
            while (!works.hasArrival()) {
                checkOpen();
                pollOrWait();
            }
            return works.takeArrival();
        } finally {
            lock.unlock();
        }
    }

    /** Polls, or waits while another thread polls. The caller holds {@code lock}, which is released during the poll or wait. */
    private void pollOrWait() throws IOException {
        if (polling) {
            awaitChange();
            return;
        }
        polling = true;
        lock.unlock();
        // If the poll fails, the count stays at -1. The other threads are then woken, and one of them polls next.
        int count = -1;
        try {
            count = verbs.completions().poll(idleCheck);
        } finally {
            lock.lock();
            polling = false;
            for (int i = 0; i < count; i++) {
                String reason = works.complete(verbs.completions().completion(i));
                if (reason != null) {
                    fail(reason.equals(WorkTable.FLUSHED_BY_END)
                        ? closedByPeer()
                        : new IOException(peer + ": " + reason));
                }
            }
            if (count != 0) {
                changed.signalAll();
            }
        }
    }

    /** Waits for a signal or one polling period. The caller then checks whether it must poll, or whether its wait has ended. */
    private void awaitChange() throws IOException {
        try {
            changed.await(CompletionQueue.EVENT_WAIT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClosedChannelException();
        }
    }

    private EOFException closedByPeer() {
        return new EOFException(peer + " closed the connection");
    }

    /** Closes the queue pair because the peer has closed the connection. */
    public void peerClosed() {
        close(closedByPeer());
    }

    /** Closes the connection, and wakes every thread that waits for this queue pair. */
    @Override
    public void close() {
        close(null);
    }

    private void close(IOException reason) {
        try (Held _ = lock.hold()) {
            fail(reason);
        }
    }

    /** Closes the queue pair. Only the first reason is kept. The caller holds {@code lock}. */
    private void fail(IOException reason) {
        if (state != State.OPEN) {
            return;
        }
        state = State.CLOSED;
        failure = reason;
        try {
            verbs.disconnect();
        } catch (IOException e) {
            // The queue pair was not connected, or the peer closed the connection first.
            LOG.debug("{}: {}", peer, e.getMessage());
        }
        changed.signalAll();
        releaseIfUnused();
    }

    private void releaseIfUnused() {
        if (state != State.CLOSED || users > 0) {
            return;
        }
        state = State.RELEASED;
        try {
            verbs.release();
        } catch (IOException e) {
            LOG.error("{}: could not release all resources of the connection: {}", peer, e.getMessage());
        }
    }
}
