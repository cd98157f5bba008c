package io.modeldisk.mount.fuse.kernel;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/**
 * Delivers FUSE interrupts. If the interrupted request is in progress, cancels the request. If the request is parked, replies to
 * the request with EINTR.
 *
 * <p>A cancelled request ends when the shards have confirmed that its commands are aborted. A shard that does not respond can
 * delay the end of the request for seconds, so after {@value #GRACE_MS} ms the process gets the reply EINTR. The request is then
 * abandoned: it continues, but no process waits for it. Later requests that change the same file wait until the abandoned request
 * has ended.
 *
 * <p>One thread can handle the interrupt before another thread begins the interrupted request. The number of such a request is
 * stored, and the interrupt takes effect when the request begins. At most {@value #REMEMBERED} numbers are stored. FUSE offers an
 * alternative: the reply EAGAIN to an interrupt makes the kernel send the interrupt again. This class does not use EAGAIN,
 * because the kernel accepts it only on the descriptor from which the interrupted request was read, and this descriptor is
 * unknown until the request begins. Thread-safe.
 */
final class Interrupts {
    private static final int REMEMBERED = 64;
    /** The time between the cancellation of a request and the reply EINTR to its process. */
    private static final long GRACE_MS = 100;

    private final List<RequestSlot> slots;
    private final Lanes lanes;
    private final NanoClock clock;
    private final ScopedLock lock = new ScopedLock();
    private final Condition ended = lock.newCondition();
    private final Cancellation.Waiter wake = Cancellation.signalling(lock, ended);
    // The numbers of the requests whose interrupt arrived before the request began; 0 in free entries. Guarded by this.
    private final long[] early = new long[REMEMBERED];
    private int next;
    private volatile boolean anyEarly;
    private volatile boolean anyInterrupt;
    private volatile boolean closing;
    private volatile boolean frozen;
    private volatile boolean resends;

    Interrupts(List<RequestSlot> slots, Lanes lanes, NanoClock clock) {
        this.slots = slots;
        this.lanes = lanes;
        this.clock = clock;
    }

    /**
     * Interrupts the request with this number, now or when it begins.
     *
     * @param own the slot of the calling thread
     */
    synchronized void interrupt(long unique, RequestSlot own) throws IOException {
        // The number is stored before the slots and the lanes are searched. If the search misses a request that begins or is
        // parked at the same time, begin() or parked() finds the number.
        int at = Math.floorMod(next++, REMEMBERED);
        early[at] = unique;
        anyEarly = true;
        if (cancel(unique) || answerParked(unique, own)) {
            early[at] = 0;
            anyEarly = Arrays.stream(early).anyMatch(number -> number != 0);
        }
    }

    /**
     * Makes the request in this slot interruptible. Cancels the request if its interrupt has already arrived.
     *
     * @return false if no request is allowed to begin any more, because the next process will serve it
     */
    boolean begin(RequestSlot slot) {
        slot.begin();
        if (frozen) {
            slot.cancel();
            end(slot);
            return false;
        }
        if (anyEarly || closing) {
            interruptIfAsked(slot);
        }
        return true;
    }

    /** Records that the request in this slot has ended. */
    void end(RequestSlot slot) {
        if (slot.end()) {
            wake.wake();
        }
    }

    /**
     * Waits until no abandoned request that changes a node is in progress. Without this wait, a process could repeat a write
     * after an interrupt, and the interrupted write could take effect after the repeated one.
     *
     * @param cancellation the cancellation of the calling request
     */
    void awaitAbandoned(long node, Cancellation cancellation) throws InterruptedIOException {
        if (!isAbandoned(node)) {
            return;
        }
        try (Cancellation.Registration _ = cancellation.registered(wake); ScopedLock.Held _ = lock.hold()) {
            while (isAbandoned(node)) {
                cancellation.check();
                ended.await();
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for an interrupted request");
        }
    }

    private boolean isAbandoned(long node) {
        if (!anyInterrupt) {
            return false;
        }
        for (RequestSlot slot : slots) {
            if (slot.isAbandonedChange(node)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Prevents further requests from beginning, and cancels the requests in progress.
     *
     * @param kernelResends true if the kernel sends requests without a reply to the next process; false if they must fail with
     *     EINTR
     */
    void freeze(boolean kernelResends) {
        resends = kernelResends;
        frozen = true;
        slots.forEach(RequestSlot::cancel);
    }

    /**
     * Returns whether a request that did not succeed must get no reply from this process, so the next process serves it again.
     */
    boolean isLeft(RequestSlot slot) {
        return frozen && resends && slot.cancellation().isCancelled();
    }

    /** Replies with EINTR to a request that was just parked, if the interrupt of this request has already arrived. */
    void parked(long unique, RequestSlot own) throws IOException {
        if (!anyEarly) {
            return;
        }
        synchronized (this) {
            for (int i = 0; i < REMEMBERED; i++) {
                if (early[i] == unique && answerParked(unique, own)) {
                    early[i] = 0;
                }
            }
        }
    }

    /** Cancels all requests in progress and all later requests. */
    void interruptAll() {
        closing = true;
        slots.forEach(RequestSlot::cancel);
    }

    /** Returns the kernel's number of the request with this cancellation; 0 if there is none. */
    long unique(Cancellation cancellation) {
        for (RequestSlot slot : slots) {
            if (slot.cancellation() == cancellation) {
                return slot.request().unique() & ~KernelProtocol.RESENT;
            }
        }
        return 0;
    }

    private boolean cancel(long unique) {
        for (RequestSlot slot : slots) {
            if (interrupt(slot, unique)) {
                return true;
            }
        }
        return false;
    }

    private boolean interrupt(RequestSlot slot, long unique) {
        if (!slot.interrupt(unique)) {
            return false;
        }
        anyInterrupt = true;
        ThreadName.INTERRUPT.builder().start(() -> {
            try {
                clock.sleep(GRACE_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                // No code interrupts this thread. An interrupt would only cause the reply to be sent earlier.
                Thread.currentThread().interrupt();
            }
            slot.abandon(unique);
        });
        return true;
    }

    private boolean answerParked(long unique, RequestSlot own) throws IOException {
        ParkedRequest request = lanes.remove(unique);
        if (request != null) {
            own.replyError(request, Errno.EINTR);
        }
        return request != null;
    }

    private synchronized void interruptIfAsked(RequestSlot slot) {
        if (closing) {
            slot.cancel();
            return;
        }
        for (int i = 0; i < REMEMBERED; i++) {
            if (early[i] != 0 && interrupt(slot, early[i])) {
                early[i] = 0;
            }
        }
    }
}
