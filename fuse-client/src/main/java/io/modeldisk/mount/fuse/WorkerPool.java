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
 * The threads that read and serve requests. A few are enough while requests are quick. When all of them wait, the reserve
 * thread adds another, so that attributes and interrupts are still answered; {@link Lanes} keep the last threads for them.
 * Added threads end when enough others are free again.
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
    // For the reserve thread only.
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

    /** Completes when the file system is unmounted, every thread has ended and the descriptors are closed. */
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

    /** A queue for one thread. If this user may not open the device again, all threads share the session's queue. */
    private int cloneDevice() throws IOException {
        int fd = Descriptors.open(KernelBinding.DEVICE, Descriptors.O_RDWR | Descriptors.O_CLOEXEC);
        if (fd == -Errno.EACCES.number()) {
            return sessionFd;
        }
        if (fd < 0) {
            throw new IOException(KernelBinding.DEVICE + " cannot be opened again: " + Errno.nameOf(-fd));
        }
        clones.add(fd);
        int cloned = Descriptors.ioctl(fd, CLONE_DEVICE, sessionFd);
        if (cloned < 0) {
            throw new IOException(KernelBinding.DEVICE + " cannot be cloned: " + Errno.nameOf(-cloned));
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

    /** No failure ends the thread: the kernel would wait for its answers. */
    private void serveRequest(RequestSlot slot) {
        try {
            dispatcher.serve(slot);
        } catch (Throwable e) {
            LOG.error("a request failed in {}", Thread.currentThread().getName(), e);
        }
    }

    /** Whether the session has ended. ENOENT, EINTR and EAGAIN: the request was withdrawn before it was read. */
    private static boolean isEnd(long error) {
        if (error == -Errno.ENOENT.number() || error == -Errno.EINTR.number() || error == -Errno.EAGAIN.number()) {
            return false;
        }
        if (error != -Errno.ENODEV.number()) {
            LOG.error("{} cannot be read: {}; the mount ends", KernelBinding.DEVICE, Errno.nameOf(-error));
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
            // Only if no request was read meanwhile are the threads stuck and not just busy.
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
            LOG.error("cannot add a thread that reads requests; requests wait until another one ends", e);
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
            // No code interrupts this thread; if it happens, the next check is only earlier.
            LOG.debug("interrupted while waiting for a thread to read", e);
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
