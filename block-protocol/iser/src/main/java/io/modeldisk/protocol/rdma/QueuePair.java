package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.StatefulVerbCall;
import io.modeldisk.platform.time.NanoClock;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The queue pair of a reliable connection, with its completion queue. Any number of threads post and wait; one of the waiting
 * threads polls for all.
 *
 * <p>Thread-safe. Calls are made between {@link #enter} and {@link #exit}: the last thread to exit releases what was closed.
 * Nothing is allocated after the start.
 */
public final class QueuePair implements AutoCloseable {
    /** The data that a device is asked to copy with a request, so that it need not fetch it from memory. */
    public static final int INLINE_BYTES = 192;

    private static final Logger LOG = LogManager.getLogger(QueuePair.class);
    private static final long QUIET_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    /** A check of the connection, made now and then while nothing comes. */
    @FunctionalInterface
    public interface IdleCheck {
        /** Called by a thread that waits; may close the queue pair. */
        void idle() throws IOException;
    }

    /** Releases what was made for a queue pair, after the queue pair itself. */
    @FunctionalInterface
    public interface Release {
        /** Called once. */
        void release() throws IOException;
    }

    /**
     * The life of a queue pair.
     *
     * <pre>
     *   OPEN ── close, failure, or the peer's end ──> CLOSED ── no thread uses it ──> RELEASED
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

    // Guarded by the lock.
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final WorkTable works;
    private State state = State.OPEN;
    private int users;
    private boolean polling;
    private IOException failure;

    /**
     * Makes a queue pair on the device of an identifier, which it then owns.
     *
     * @param sendRequests the most requests other than receives that are in flight
     * @param receives the most receives that are posted
     * @param peer the other side, for messages
     * @throws IOException if the device refuses, with the reason; the identifier is still the caller's
     */
    public QueuePair(RdmaDomain domain, RdmaCmId id, int sendRequests, int receives, String peer, NanoClock clock)
        throws IOException {
        this.domain = domain;
        this.peer = peer;
        this.clock = clock;
        this.works = new WorkTable(sendRequests);
        this.verbs = new VerbsQueue(domain, id, sendRequests, receives);
    }

    /** Sets the check that is made while nothing comes. */
    public void idleCheck(IdleCheck check) {
        idleCheck = check;
    }

    /** Adds a release at the end of the queue pair; the one added last runs first. */
    public void releaseAtEnd(Release release) {
        verbs.releaseAtEnd(release);
    }

    /** The most bytes that the device copies with a request: flag {@link IbvSendWR#IBV_SEND_INLINE}. */
    public int inlineBytes() {
        return verbs.inlineBytes();
    }

    /** The device's domain. */
    public RdmaDomain domain() {
        return domain;
    }

    /** The other side, for messages. */
    public String peer() {
        return peer;
    }

    /** The clock of this connection. */
    public NanoClock clock() {
        return clock;
    }

    /** Gives a piece of work its number. Before anything is posted. */
    public <W extends Work> W add(W work) {
        return works.add(work);
    }

    /** Prepares a chain of requests for {@link #post}. */
    public SVCPostSend prepare(IbvSendWR... chain) throws IOException {
        return verbs.prepare(chain);
    }

    /** Prepares a receive into one place for {@link #postReceive}. */
    public SVCPostRecv prepareReceive(Work work, long address, int bytes, int localKey) throws IOException {
        return verbs.prepareReceive(work, address, bytes, localKey);
    }

    /** Begins a use of the queue pair; {@link #exit} ends it. */
    public void enter() throws IOException {
        lock.lock();
        try {
            checkOpen();
            users++;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a use of the queue pair. */
    public void exit() {
        lock.lock();
        try {
            users--;
            releaseIfUnused();
        } finally {
            lock.unlock();
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
     * Posts a prepared chain of which only the last request is signaled. There must be room for it, and no other thread may post
     * meanwhile.
     *
     * @param work ends with the chain, and with it every unsignaled request posted before
     * @param requests the number of requests in the chain
     * @return the turn of the work, for {@link #awaitEnd}
     */
    public int post(SVCPostSend chain, Work work, int requests) throws IOException {
        int turn;
        lock.lock();
        try {
            checkOpen();
            turn = works.begin(work, requests);
        } finally {
            lock.unlock();
        }
        execute(chain, work);
        return turn;
    }

    /**
     * Posts a request without a completion: it ends, and its room is free again, with the next request that {@link #post} posts.
     * There must be room for it, and no other thread may post meanwhile.
     */
    public void postUnsignaled(SVCPostSend request) throws IOException {
        lock.lock();
        try {
            checkOpen();
            works.beginUnsignaled();
        } finally {
            lock.unlock();
        }
        try {
            request.execute();
        } catch (IOException e) {
            close(new IOException(peer + ": " + e.getMessage(), e));
            throw e;
        }
    }

    /** Posts a prepared receive. */
    public void postReceive(SVCPostRecv receive, Work work) throws IOException {
        lock.lock();
        try {
            checkOpen();
            works.beginReceive(work);
        } finally {
            lock.unlock();
        }
        execute(receive, work);
    }

    private void execute(StatefulVerbCall<?> call, Work work) throws IOException {
        try {
            call.execute();
        } catch (IOException e) {
            lock.lock();
            try {
                works.takeBack(work);
                fail(new IOException(peer + ": " + e.getMessage(), e));
            } finally {
                lock.unlock();
            }
            throw e;
        }
    }

    /** Waits until this many requests can be posted. */
    public void awaitRoom(int requests) throws IOException {
        lock.lock();
        try {
            while (!works.hasRoom(requests)) {
                checkOpen();
                pollOrWait();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until a turn of a piece of work has ended; throws if it failed. */
    public void awaitEnd(Work work, int turn) throws IOException {
        lock.lock();
        try {
            while (!work.isOver(turn)) {
                checkOpen();
                pollOrWait();
            }
            // The end of the connection ends work too, as a failure.
            checkOpen();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the current turn of a piece of work has ended, and removes its arrival. */
    public void withdraw(Work work) {
        awaitOver(work);
        lock.lock();
        try {
            works.removeArrival(work);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the current turn of a piece of work has ended, successful or not; bounded. */
    public void awaitOver(Work work) {
        awaitOver(work, turnOf(work));
    }

    private int turnOf(Work work) {
        lock.lock();
        try {
            return work.turn();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until a turn of a piece of work has ended, successful or not; bounded. If the device does not end it in time, the
     * connection is closed, which ends all work.
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
                        LOG.error("{}: the device did not end a request when the connection was closed", peer);
                        return;
                    }
                    closing = true;
                    deadlineNs = clock.nanoTime() + QUIET_TIMEOUT_NS;
                    fail(new IOException(peer + ": the device did not end a request in time"));
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

    /** Waits for the next piece of work that arrives. */
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

    /** Polls for completions if no other thread does, else waits for that thread. The lock is released meanwhile. */
    private void pollOrWait() throws IOException {
        if (polling) {
            awaitChange();
            return;
        }
        polling = true;
        lock.unlock();
        // After a failure too, the other threads are woken, so that one of them polls.
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

    /** Waits for a signal, at most one polling period: then the polling thread may have left without another one to follow. */
    private void awaitChange() throws IOException {
        try {
            changed.await(CompletionQueue.EVENT_WAIT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private static ClosedChannelException interrupted() {
        Thread.currentThread().interrupt();
        return new ClosedChannelException();
    }

    private EOFException closedByPeer() {
        return new EOFException(peer + " closed the connection");
    }

    /** Closes the queue pair because the peer has gone. */
    public void peerClosed() {
        close(closedByPeer());
    }

    /** Ends every wait with an exception, and the connection. */
    @Override
    public void close() {
        close(null);
    }

    private void close(IOException reason) {
        lock.lock();
        try {
            fail(reason);
        } finally {
            lock.unlock();
        }
    }

    /** Closes the queue pair; the first reason counts. With the lock. */
    private void fail(IOException reason) {
        if (state != State.OPEN) {
            return;
        }
        state = State.CLOSED;
        failure = reason;
        try {
            verbs.disconnect();
        } catch (IOException e) {
            // It was not connected, or the peer ended the connection first.
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
