package io.modeldisk.mount.fuse;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Limits how many requests of one kind are served at once. The others are parked in order of arrival: copied out of their
 * slots, so that they hold no thread and other kinds of requests go on. Takes no lock and allocates nothing while the limit is
 * not reached. Thread-safe.
 */
final class Lane {
    /** 64 writes of 1 MiB. */
    static final long DEFAULT_PARKED_BYTES = 64 << 20;

    private static final Logger LOG = LogManager.getLogger(Lane.class);

    private final String name;
    private final int limit;
    private final long parkedBytesLimit;
    private final AtomicInteger running = new AtomicInteger();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();
    // Guarded by the lock.
    private final Deque<ParkedRequest> parked = new ArrayDeque<>();
    private long parkedBytes;
    private boolean loggedFull;

    // Changes under the lock.
    private volatile int parkedCount;

    /**
     * A lane.
     *
     * @param name for the log
     * @param limit how many of its requests are served at once, from 1
     * @param parkedBytesLimit the memory that parked requests take at most; beyond it, the thread that has read the next one
     * waits
     */
    Lane(String name, int limit, long parkedBytesLimit) {
        this.parkedBytesLimit = parkedBytesLimit;
        this.name = name;
        this.limit = limit;
    }

    /**
     * Admits the request in this slot, or parks it. After it was parked, {@link #next} has to be called once: a request that
     * ended meanwhile may have left a place.
     *
     * @return whether the request may be served now
     */
    boolean enter(RequestSlot slot) {
        return acquire() || !park(slot);
    }

    /**
     * Takes a place for the first parked request and loads it into this slot.
     *
     * @return false if no place is free or nothing is parked
     */
    boolean next(RequestSlot slot) {
        while (parkedCount > 0 && acquire()) {
            ParkedRequest request = poll();
            if (request != null) {
                slot.load(request);
                return true;
            }
            running.decrementAndGet();
        }
        return false;
    }

    /** Gives back the place of a request that has ended. {@link #next} has to be called after it. */
    void leave() {
        running.decrementAndGet();
    }

    /** Removes a parked request; null if it is not parked here. */
    ParkedRequest remove(long unique) {
        if (parkedCount == 0) {
            return null;
        }
        lock.lock();
        try {
            for (ParkedRequest request : parked) {
                if (request.unique() == unique) {
                    parked.remove(request);
                    removed(request);
                    return request;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private boolean acquire() {
        int now = running.get();
        while (now < limit) {
            if (running.compareAndSet(now, now + 1)) {
                return true;
            }
            now = running.get();
        }
        return false;
    }

    /** Parks a request unless a place becomes free first; then it has the place, and the answer is false. */
    private boolean park(RequestSlot slot) {
        int bytes = slot.request().lengthBytes();
        lock.lock();
        try {
            while (parkedBytes > 0 && parkedBytes + bytes > parkedBytesLimit) {
                logFull();
                room.awaitUninterruptibly();
            }
            if (parked.isEmpty() && acquire()) {
                return false;
            }
            parked.add(slot.copy());
            parkedBytes += bytes;
            parkedCount = parked.size();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private ParkedRequest poll() {
        lock.lock();
        try {
            ParkedRequest request = parked.poll();
            if (request != null) {
                removed(request);
            }
            return request;
        } finally {
            lock.unlock();
        }
    }

    private void removed(ParkedRequest request) {
        parkedBytes -= request.bytes().length;
        parkedCount = parked.size();
        room.signalAll();
    }

    private void logFull() {
        if (!loggedFull) {
            loggedFull = true;
            LOG.warn("{} requests for {} wait: all others wait behind them until one ends", limit + parked.size(),
                name);
        }
    }
}
