package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.IbvWC.IbvWcStatus;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.StatefulVerbCall;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A reliable connection's queue pair with a completion queue of its own. Any number of threads post and wait; one of those that
 * wait polls for all.
 *
 * <p>Thread-safe. Calls are made between {@link #enter} and {@link #exit}: the last one out gives back what was closed. Nothing
 * is allocated after the start.
 */
public final class QueuePair implements AutoCloseable {
    /** What a device is asked to take along with a request, so that it need not fetch it. */
    public static final int INLINE_BYTES = 192;

    private static final Logger LOG = LogManager.getLogger(QueuePair.class);
    private static final long QUIET_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** What is done now and then while nothing comes: a look whether the other side is still there. */
    @FunctionalInterface
    public interface IdleCheck {
        /** Called by a thread that waits; may close the queue pair. */
        void idle() throws IOException;
    }

    /** Gives back what was made for a queue pair, once that is gone. */
    @FunctionalInterface
    public interface Release {
        /** Called once. */
        void release() throws IOException;
    }

    private final RdmaDomain domain;
    private final RdmaCmId id;
    private final String peer;
    private final int sendRequests;
    private final int inlineBytes;
    private final CompletionQueue completions;
    private final IbvQP pair;
    private final List<StatefulVerbCall<?>> prepared = new ArrayList<>();
    private final List<Release> releases = new ArrayList<>();
    private final List<Work> works = new ArrayList<>();
    private volatile IdleCheck idleCheck = () -> {};

    // Guarded by the lock.
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Arrivals arrivals = new Arrivals();
    private int room;
    /** How many requests have been posted that tell of nothing, since the last that does. */
    private int silent;
    private int users;
    private boolean polling;
    private boolean closed;
    private boolean released;
    private IOException failure;

    /**
     * Makes a queue pair on the device of an identifier, which belongs to it from now on.
     *
     * @param sendRequests how many requests but receives may be in flight
     * @param receives how many receives may be posted
     * @param peer the other side, for messages
     * @throws IOException if the device has no room for it, in words; the identifier is the caller's then
     */
    public QueuePair(RdmaDomain domain, RdmaCmId id, int sendRequests, int receives, String peer) throws IOException {
        this.domain = domain;
        this.id = id;
        this.peer = peer;
        this.sendRequests = sendRequests;
        this.room = sendRequests;
        completions = new CompletionQueue(id.getVerbs(), sendRequests + receives, domain.nextCompletionVector());
        try {
            int inline = INLINE_BYTES;
            IbvQP made;
            try {
                made = create(receives, inline);
            } catch (IOException e) {
                LOG.debug("without data inline: {}", e.getMessage());
                inline = 0;
                made = create(receives, inline);
            }
            pair = made;
            inlineBytes = inline;
        } catch (IOException e) {
            completions.destroy();
            throw e;
        }
    }

    private IbvQP create(int receives, int inline) throws IOException {
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(completions.queue());
        attributes.setRecv_cq(completions.queue());
        attributes.cap().setMax_send_wr(sendRequests);
        attributes.cap().setMax_recv_wr(receives);
        attributes.cap().setMax_inline_data(inline);
        return id.createQP(domain.domain(), attributes);
    }

    /** Sets what is done while nothing comes. */
    public void idleCheck(IdleCheck check) {
        idleCheck = check;
    }

    /** Has something given back once the queue pair is gone; what was added last goes first. */
    public void releaseAtEnd(Release release) {
        releases.addFirst(release);
    }

    /** Up to how many bytes a device takes along with a request: flag {@link IbvSendWR#IBV_SEND_INLINE}. */
    public int inlineBytes() {
        return inlineBytes;
    }

    /** The device's domain. */
    public RdmaDomain domain() {
        return domain;
    }

    /** The other side, for messages. */
    public String peer() {
        return peer;
    }

    /** Gives a piece of work its number. Before anything is posted. */
    public <W extends Work> W add(W work) {
        work.id(works.size());
        works.add(work);
        return work;
    }

    /** Prepares a chain of requests for {@link #post}. */
    public SVCPostSend prepare(IbvSendWR... chain) throws IOException {
        SVCPostSend call = pair.postSend(List.of(chain), null);
        prepared.add(call);
        return call;
    }

    /** Prepares to receive into one place for {@link #postReceive}. */
    public SVCPostRecv prepareReceive(Work work, long address, int bytes, int localKey) throws IOException {
        SVCPostRecv call = pair.postRecv(List.of(WorkRequests.receive(work, address, bytes, localKey)), null);
        prepared.add(call);
        return call;
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
        if (closed) {
            if (failure == null) {
                throw new ClosedChannelException();
            }
            throw failure;
        }
    }

    /**
     * Posts a prepared chain of which the last request alone tells of its end. There must be room for it, and no other thread
     * may post anything meanwhile.
     *
     * @param work what ends with the chain, and with it all that has been posted before
     * @param requests how many there are in the chain
     * @return the turn of the work, for {@link #awaitEnd}
     */
    public int post(SVCPostSend chain, Work work, int requests) throws IOException {
        int turn;
        lock.lock();
        try {
            checkOpen();
            turn = work.begin(requests + silent);
            room -= requests;
            silent = 0;
        } finally {
            lock.unlock();
        }
        execute(chain, work);
        return turn;
    }

    /**
     * Posts a request that tells of nothing: it is over when what is posted behind it by {@link #post} is, and its room comes
     * back with that. There must be room for it, and no other thread may post anything meanwhile.
     */
    public void postSilently(SVCPostSend request) throws IOException {
        lock.lock();
        try {
            checkOpen();
            room--;
            silent++;
        } finally {
            lock.unlock();
        }
        try {
            request.execute();
        } catch (IOException e) {
            lock.lock();
            try {
                fail(new IOException(peer + ": " + e.getMessage(), e));
            } finally {
                lock.unlock();
            }
            throw e;
        }
    }

    /** Posts a prepared receive. */
    public void postReceive(SVCPostRecv receive, Work work) throws IOException {
        lock.lock();
        try {
            checkOpen();
            work.begin(0);
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
                room += work.end(0);
                fail(new IOException(peer + ": " + e.getMessage(), e));
            } finally {
                lock.unlock();
            }
            throw e;
        }
    }

    /** Waits until {@code requests} more can be posted. */
    public void awaitRoom(int requests) throws IOException {
        lock.lock();
        try {
            while (room < requests) {
                checkOpen();
                progressOrWait();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until a turn of a piece of work is over and has gone well. */
    public void awaitEnd(Work work, int turn) throws IOException {
        lock.lock();
        try {
            while (!work.isOver(turn)) {
                checkOpen();
                progressOrWait();
            }
            // What ended because the connection did has not gone well.
            checkOpen();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until what is being done for a piece of work now is over, and takes back that it has arrived if it has. */
    public void withdraw(Work work) {
        awaitOver(work);
        lock.lock();
        try {
            arrivals.remove(work);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until what is being done for a piece of work now is over, well or not; bounded. */
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
     * Waits until a turn of a piece of work is over, well or not; bounded. A device that does not end it in time loses the
     * connection, and with that ends it.
     */
    public void awaitOver(Work work, int turn) {
        lock.lock();
        try {
            users++;
            boolean givenUp = false;
            long deadline = System.nanoTime() + QUIET_TIMEOUT_NANOS;
            while (!released && !work.isOver(turn)) {
                if (System.nanoTime() - deadline > 0) {
                    if (givenUp) {
                        LOG.error("{}: the device does not end a request, not even with the connection", peer);
                        return;
                    }
                    givenUp = true;
                    deadline = System.nanoTime() + QUIET_TIMEOUT_NANOS;
                    fail(new IOException(peer + ": the device does not end a request"));
                }
                progressOrWait();
            }
        } catch (IOException e) {
            LOG.debug("{}: {}", peer, e.toString());
        } finally {
            users--;
            releaseIfUnused();
            lock.unlock();
        }
    }

    /** Waits for a piece of work that was made to arrive, and answers it. */
    public Work awaitArrival() throws IOException {
        lock.lock();
        try {
            while (arrivals.isEmpty()) {
                checkOpen();
                progressOrWait();
            }
            return arrivals.take();
        } finally {
            lock.unlock();
        }
    }

    /** Polls if nobody else does, or else waits for what that one finds. With the lock, given up meanwhile. */
    private void progressOrWait() throws IOException {
        if (polling) {
            await(changed);
            return;
        }
        polling = true;
        lock.unlock();
        // If this fails, somebody else has to poll.
        int count = -1;
        try {
            count = completions.poll(idleCheck);
        } finally {
            lock.lock();
            polling = false;
            for (int i = 0; i < count; i++) {
                take(completions.completion(i));
            }
            if (count != 0) {
                changed.signalAll();
            }
        }
    }

    private static void await(Condition condition) throws IOException {
        try {
            condition.await(CompletionQueue.EVENT_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClosedChannelException();
        }
    }

    private void take(IbvWC completion) {
        Work work = works.get((int) completion.getWr_id());
        int status = completion.getStatus();
        boolean good = status == IbvWcStatus.IBV_WC_SUCCESS.ordinal();
        room += work.end(good ? completion.getByte_len() : 0);
        if (!good) {
            if (status != IbvWcStatus.IBV_WC_WR_FLUSH_ERR.ordinal()) {
                fail(new IOException(peer + ": " + work.describe(status)));
            } else if (!closed) {
                fail(new EOFException(peer + " closed the connection"));
            }
        } else if (work.arrives()) {
            arrivals.add(work);
        }
    }

    /** The other side is gone. */
    public void peerClosed() {
        lock.lock();
        try {
            fail(new EOFException(peer + " closed the connection"));
        } finally {
            lock.unlock();
        }
    }

    /** Ends every wait with an exception, and the connection. */
    @Override
    public void close() {
        lock.lock();
        try {
            fail(null);
        } finally {
            lock.unlock();
        }
    }

    private void fail(IOException reason) {
        if (closed) {
            return;
        }
        closed = true;
        failure = reason;
        try {
            id.disconnect();
        } catch (IOException e) {
            // It was not connected, or the other side was faster.
            LOG.debug("{}: {}", peer, e.getMessage());
        }
        changed.signalAll();
        releaseIfUnused();
    }

    private void releaseIfUnused() {
        if (!closed || released || users > 0) {
            return;
        }
        released = true;
        try {
            id.destroyQP();
            prepared.forEach(StatefulVerbCall::free);
            completions.destroy();
            id.destroyId();
            for (Release release : releases) {
                release.release();
            }
        } catch (IOException e) {
            LOG.error("{}: what the connection had is not given back whole: {}", peer, e.getMessage());
        }
    }
}
