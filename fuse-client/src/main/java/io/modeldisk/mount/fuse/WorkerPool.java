package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The threads that read and serve requests. When all threads wait, the reserve thread adds another thread, so that attribute
 * requests and interrupts are still served. {@link Lanes} keep the last threads free for these requests. An added thread stops
 * when enough other threads read again.
 */
final class WorkerPool {
    private static final Logger LOG = LogManager.getLogger(WorkerPool.class);
    private static final long CLONE_DEVICE = 0x8004E500L;
    private static final long STUCK_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final int sessionFd;
    private final RequestSlot[] slots;
    private final int baseThreads;
    private final NanoClock clock;
    private final Dispatcher dispatcher;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final AtomicInteger reading = new AtomicInteger();
    private final Thread reserve;
    private volatile boolean reserveSleeps;
    private volatile boolean unmounted;
    // Used only by the reserve thread.
    private boolean loggedNoThread;

    // Guarded by this.
    private final Deque<RequestSlot> freeSlots = new ArrayDeque<>();
    private final List<Integer> clones = new ArrayList<>();
    private int threads;

    WorkerPool(int sessionFd, RequestSlot[] slots, FuseOptions options, Dispatcher dispatcher) {
        this.sessionFd = sessionFd;
        this.slots = slots;
        this.baseThreads = options.workerThreads();
        this.clock = options.clock();
        this.dispatcher = dispatcher;
        this.reserve = Thread.ofPlatform().name("modeldisk-fuse-reserve").daemon().unstarted(this::keepOneReading);
    }

    /** Returns a future that completes when the mount is removed, all threads have stopped and the descriptors are closed. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** Starts the threads. */
    synchronized void start() throws IOException {
        try {
            for (int i = 0; i < baseThreads; i++) {
                slots[i].attach(cloneDevice());
            }
        } catch (IOException e) {
            clones.forEach(Descriptors::close);
            throw e;
        }
        for (int i = 0; i < slots.length; i++) {
            if (i < baseThreads) {
                startThread("modeldisk-fuse-" + i, slots[i], false);
            } else {
                slots[i].attach(sessionFd);
                freeSlots.add(slots[i]);
            }
        }
        reserve.start();
    }

    /**
     * Opens a queue of requests for one thread. Returns the descriptor of the queue. If this user has no permission to open the
     * device, returns the descriptor of the session, so that all threads share its queue.
     */
    private int cloneDevice() throws IOException {
        int fd = Descriptors.open(KernelBinding.DEVICE, Descriptors.O_RDWR | Descriptors.O_CLOEXEC);
        if (fd == -Errno.EACCES.number()) {
            return sessionFd;
        }
        if (fd < 0) {
            throw new IOException(KernelBinding.DEVICE + " cannot be opened for a thread: " + Errno.nameOf(-fd));
        }
        clones.add(fd);
        int cloned = Descriptors.ioctl(fd, CLONE_DEVICE, sessionFd);
        if (cloned < 0) {
            throw new IOException(KernelBinding.DEVICE + " cannot be cloned for a thread: " + Errno.nameOf(-cloned));
        }
        return fd;
    }

    private void startThread(String name, RequestSlot slot, boolean added) {
        Thread.ofPlatform().name(name).daemon().start(() -> serve(slot, added));
        threads++;
    }

    private void serve(RequestSlot slot, boolean added) {
        try {
            while (!(added && reading.get() >= baseThreads)) {
                reading.incrementAndGet();
                long length = slot.receive();
                if (reading.decrementAndGet() == 0 && reserveSleeps) {
                    LockSupport.unpark(reserve);
                }
                if (length >= 0) {
                    serveRequest(slot);
                } else if (isEnd(length)) {
                    unmounted = true;
                    break;
                }
            }
        } finally {
            threadEnded(slot, added);
        }
    }

    /** Serves a request. Catches all failures, because the kernel would wait for the replies of a stopped thread. */
    private void serveRequest(RequestSlot slot) {
        try {
            dispatcher.serve(slot);
        } catch (Throwable e) {
            LOG.error("a request failed in thread {} because of an error in modeldisk",
                Thread.currentThread().getName(), e);
        }
    }

    /** Returns whether a read error closes the session. ENOENT, EINTR and EAGAIN only mean that no request was received. */
    private static boolean isEnd(long error) {
        if (error == -Errno.ENOENT.number() || error == -Errno.EINTR.number() || error == -Errno.EAGAIN.number()) {
            return false;
        }
        if (error != -Errno.ENODEV.number()) {
            LOG.error("{} cannot be read: {}; the session closes", KernelBinding.DEVICE, Errno.nameOf(-error));
        }
        return true;
    }

    private void threadEnded(RequestSlot slot, boolean added) {
        synchronized (this) {
            threads--;
            if (added) {
                freeSlots.add(slot);
            }
        }
        LockSupport.unpark(reserve);
    }

    private void keepOneReading() {
        while (!unmounted) {
            if (reading.get() > 0) {
                reserveSleeps = true;
                if (reading.get() > 0 && !unmounted) {
                    LockSupport.park(this);
                }
                reserveSleeps = false;
                continue;
            }
            long before = requests();
            sleep(STUCK_NS);
            // No thread reads now, and none has read a request since the last check. So all threads wait.
            if (reading.get() == 0 && requests() == before && !unmounted) {
                try {
                    addThread();
                } catch (Throwable e) {
                    logNoThread(e);
                }
            }
        }
        awaitThreads();
        clones.forEach(Descriptors::close);
        Descriptors.close(sessionFd);
        ended.complete(null);
    }

    private void logNoThread(Throwable e) {
        if (!loggedNoThread) {
            loggedNoThread = true;
            LOG.error("cannot start another thread; further requests wait until a request completes", e);
        }
    }

    private synchronized void addThread() {
        RequestSlot slot = freeSlots.poll();
        if (slot != null) {
            boolean started = false;
            try {
                startThread("modeldisk-fuse-added", slot, true);
                started = true;
            } finally {
                if (!started) {
                    freeSlots.add(slot);
                }
            }
        }
    }

    private void sleep(long durationNs) {
        try {
            clock.sleep(durationNs, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // No code interrupts this thread. An interrupt would only make the next check earlier.
            LOG.debug("the reserve thread was interrupted while it slept", e);
        }
    }

    private void awaitThreads() {
        while (true) {
            synchronized (this) {
                if (threads == 0) {
                    return;
                }
            }
            LockSupport.park(this);
        }
    }

    private long requests() {
        long sum = 0;
        for (RequestSlot slot : slots) {
            sum += slot.requests();
        }
        return sum;
    }
}
