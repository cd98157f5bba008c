package io.modeldisk.mount.fuse.kernel;

import io.modeldisk.platform.threads.ScopedLock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Limits the number of requests of one kind that are served at the same time. Further requests are parked in order of arrival:
 * each is copied out of its slot and occupies no thread, so requests of other kinds are still served. Below the limit, a lane
 * acquires no lock and allocates no memory. Thread-safe.
 */
final class Lane {
    /** The default limit of the memory for parked requests: 64 MiB, enough for 64 writes of 1 MiB. */
    static final long DEFAULT_PARKED_BYTES = 64 << 20;

    private static final Logger LOG = LogManager.getLogger(Lane.class);

    private final String name;
    private final int limit;
    private final long parkedBytesLimit;
    private final Runnable beforeWait;
    private final AtomicInteger running = new AtomicInteger();

    private final ScopedLock lock = new ScopedLock();
    private final Condition room = lock.newCondition();
    // Guarded by {@code lock}.
    private final Deque<ParkedRequest> parked = new ArrayDeque<>();
    private long parkedBytes;
    private boolean loggedFull;

    // Writes of this field are guarded by {@code lock}.
    private volatile int parkedCount;

    /**
     * Creates a lane.
     *
     * @param name the name of the lane in the log
     * @param limit the maximum number of requests that are served at the same time, at least 1
     * @param parkedBytesLimit the maximum total size of parked requests. A thread that has read a request beyond this limit waits
     *     until a parked request is removed
     * @param beforeWait an action that a thread runs before it waits for the removal of a parked request
     */
    Lane(String name, int limit, long parkedBytesLimit, Runnable beforeWait) {
        this.beforeWait = beforeWait;
        this.parkedBytesLimit = parkedBytesLimit;
        this.name = name;
        this.limit = limit;
    }

    /**
     * Admits the request in this slot, or parks it if the limit is reached. After a request was parked, the caller must call
     * {@link #next} once. Otherwise, if all other requests completed just before, no thread would serve the parked request.
     *
     * @return whether the request can be served now
     */
    boolean enter(RequestSlot slot) {
        return acquire() || !park(slot);
    }

    /**
     * Admits the first parked request and loads it into this slot.
     *
     * @return false if the limit is reached or no request is parked
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

    /** Records that an admitted request has completed. The caller must call {@link #next} afterwards. */
    void leave() {
        running.decrementAndGet();
    }

    /** Removes a parked request and returns it. Returns null if this lane has not parked the request. */
    ParkedRequest remove(long unique) {
        if (parkedCount == 0) {
            return null;
        }
        try (ScopedLock.Held _ = lock.hold()) {
            for (ParkedRequest request : parked) {
                if (request.unique() == unique) {
                    parked.remove(request);
                    removed(request);
                    return request;
                }
            }
            return null;
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

    /**
     * Parks the request in this slot and returns true. If the lane is below its limit again by now, admits the request instead
     * and returns false.
     */
    private boolean park(RequestSlot slot) {
        int bytes = slot.request().lengthBytes();
        try (ScopedLock.Held _ = lock.hold()) {
            while (parkedBytes > 0 && parkedBytes + bytes > parkedBytesLimit) {
                logFull();
                beforeWait.run();
                room.awaitUninterruptibly();
            }
            if (parked.isEmpty() && acquire()) {
                return false;
            }
            parked.add(slot.copy());
            parkedBytes += bytes;
            parkedCount = parked.size();
            return true;
        }
    }

    private ParkedRequest poll() {
        try (ScopedLock.Held _ = lock.hold()) {
            ParkedRequest request = parked.poll();
            if (request != null) {
                removed(request);
            }
            return request;
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
            LOG.warn(
                "the number of requests of kind '{}' in progress or parked is {}, and the memory for parked requests is full;"
                    + " further requests of this kind wait",
                name, limit + parked.size());
        }
    }
}
