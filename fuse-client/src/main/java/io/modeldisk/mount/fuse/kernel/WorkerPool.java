package io.modeldisk.mount.fuse.kernel;

import io.modeldisk.mount.fuse.FuseOptions;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The threads that read and serve requests. If all threads are blocked, the reserve thread adds another thread, so attribute
 * requests and interrupts are still served. The {@link Lanes} keep the last threads free for such requests. An added thread stops
 * when enough other threads read requests again.
 *
 * <p>A thread that has started a request reads the next request into another slot. The started requests hold back their commands
 * until no further request is available, so one message to a shard carries several commands.
 */
final class WorkerPool {
    private static final Logger LOG = LogManager.getLogger(WorkerPool.class);
    private static final long CLONE_DEVICE = 0x8004E500L;
    private static final int NONE = -1;
    private static final long STUCK_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final int sessionFd;
    private final Handover handover;
    private final SlotPool slots;
    private final NanoClock clock;
    private final Dispatcher dispatcher;
    private final PollNotifier polls;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final AtomicInteger reading = new AtomicInteger();
    private final AtomicLong received = new AtomicLong();
    private final Thread reserve;
    private volatile boolean reserveSleeps;
    private volatile boolean unmounted;
    /** True if the threads must end after their current request, because another process will read the next request. */
    private volatile boolean stopping;
    // Used only by the reserve thread.
    private boolean loggedNoThread;

    // Guarded by this.
    private final List<Integer> clones = new ArrayList<>();
    private int threads;

    WorkerPool(int sessionFd, List<RequestSlot> slots, FuseOptions options, Dispatcher dispatcher,
        PollNotifier polls) {
        this.sessionFd = sessionFd;
        this.handover = options.handover();
        this.slots = new SlotPool(slots, this::wakeReserve);
        dispatcher.endStarted(slots, this.slots);
        this.clock = options.clock();
        this.dispatcher = dispatcher;
        this.polls = polls;
        this.reserve = ThreadName.RESERVE.builder().unstarted(this::keepOneReading);
    }

    /** Returns a future that completes when the mount is removed, all threads have stopped and the descriptors are closed. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** Starts the threads. */
    synchronized void start() throws IOException {
        int[] fds = new int[FuseOptions.WORKER_THREADS];
        int[] triedFds = new int[FuseOptions.WORKER_THREADS];
        try {
            for (int i = 0; i < FuseOptions.WORKER_THREADS; i++) {
                fds[i] = device("fuse-wait-" + i, 0, sessionFd);
                triedFds[i] = device("fuse-try-" + i, Descriptors.O_NONBLOCK, NONE);
            }
        } catch (IOException e) {
            clones.forEach(Descriptors::close);
            throw e;
        }
        for (int i = 0; i < FuseOptions.WORKER_THREADS; i++) {
            int fd = fds[i];
            int triedFd = triedFds[i];
            startThread(i, () -> serve(slots.take(), fd, triedFd, false));
        }
        reserve.start();
    }

    /**
     * Returns the descriptor from which one thread reads requests. If the previous process has left a descriptor of this name,
     * returns that descriptor, because requests that were read from it can be answered only while it is open. Otherwise clones
     * the device, and gives the new descriptor to the service manager to keep.
     */
    private int device(String name, int flags, int other) throws IOException {
        int left = handover.take(name);
        if (left >= 0) {
            clones.add(left);
            return left;
        }
        int fd = cloneDevice(flags, other);
        if (fd != other) {
            handover.keep(name, fd);
        }
        return fd;
    }

    /**
     * Opens the device for one thread. With its own descriptor, a thread replies to requests without contention for a lock with
     * other threads. Returns the descriptor, or {@code other} if this user is not allowed to open the device.
     */
    private int cloneDevice(int flags, int other) throws IOException {
        int fd = Descriptors.open(KernelBinding.DEVICE, Descriptors.O_RDWR | Descriptors.O_CLOEXEC | flags);
        if (fd == -Errno.EACCES.number()) {
            return other;
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

    private void startThread(Object number, Runnable task) {
        ThreadName.FUSE.builder(number).start(task);
        threads++;
    }

    /**
     * Serves requests until the mount ends.
     *
     * @param fd the blocking descriptor from which this thread reads requests
     * @param triedFd the non-blocking descriptor from which this thread reads a request if one is available; {@link #NONE} if
     *     there is no such descriptor
     */
    private void serve(RequestSlot first, int fd, int triedFd, boolean added) {
        RequestSlot slot = first;
        boolean holdsBack = false;
        try {
            while (!stopping && !(added && reading.get() >= FuseOptions.WORKER_THREADS)) {
                long length = holdsBack ? slot.receive(triedFd) : await(slot, fd);
                received.incrementAndGet();
                if (length < 0 && holdsBack) {
                    holdsBack = false;
                    dispatcher.flush();
                }
                if (length >= 0) {
                    if (!serveRequest(slot)) {
                        holdsBack = triedFd != NONE;
                        slot = nextSlot(holdsBack);
                    }
                } else if (isEnd(length)) {
                    unmounted = true;
                    break;
                }
            }
        } finally {
            try {
                if (holdsBack) {
                    // Without this flush, the requests that this thread has started would wait until they are cancelled.
                    dispatcher.flush();
                }
            } finally {
                slots.giveBack(slot);
                threadEnded();
            }
        }
    }

    private RequestSlot nextSlot(boolean holdsBack) {
        RequestSlot free = slots.poll();
        if (free == null || !holdsBack) {
            dispatcher.flush();
        }
        return free == null ? slots.take() : free;
    }

    private long await(RequestSlot slot, int fd) {
        reading.incrementAndGet();
        // The order matters: another thread sets stopping first, and then reads the number of reading threads.
        long length = stopping ? -Errno.EAGAIN.number() : slot.receive(fd);
        if (reading.decrementAndGet() == 0 && reserveSleeps) {
            LockSupport.unpark(reserve);
        }
        return length;
    }

    /**
     * Serves a request. Catches every exception, because the kernel would wait forever for the reply of a thread that has
     * stopped. Returns false if another thread will end the request and return its slot to the pool.
     */
    private boolean serveRequest(RequestSlot slot) {
        try {
            return dispatcher.serve(slot);
        } catch (Throwable e) {
            LOG.error("a request failed in thread {} because of an error in modeldisk",
                Thread.currentThread().getName(), e);
            return true;
        }
    }

    /**
     * Returns whether a read error means the end of the session. ENOENT, EINTR and EAGAIN only mean that no request was received.
     */
    private static boolean isEnd(long error) {
        if (error == -Errno.ENOENT.number() || error == -Errno.EINTR.number() || error == -Errno.EAGAIN.number()) {
            return false;
        }
        if (error != -Errno.ENODEV.number()) {
            LOG.error("{} cannot be read: {}; the session closes", KernelBinding.DEVICE, Errno.nameOf(-error));
        }
        return true;
    }

    private void threadEnded() {
        synchronized (this) {
            threads--;
        }
        LockSupport.unpark(reserve);
    }

    private void wakeReserve() {
        if (unmounted) {
            LockSupport.unpark(reserve);
        }
    }

    private void keepOneReading() {
        while (!unmounted && !stopping) {
            if (reading.get() > 0) {
                reserveSleeps = true;
                if (reading.get() > 0 && !unmounted && !stopping) {
                    LockSupport.park(this);
                }
                reserveSleeps = false;
                continue;
            }
            long before = received.get();
            sleep(clock, STUCK_NS);
            // No thread is reading, and no request was received since the last check, so all threads are blocked.
            if (reading.get() == 0 && received.get() == before && !unmounted && !stopping) {
                try {
                    addThread();
                } catch (Throwable e) {
                    if (!loggedNoThread) {
                        loggedNoThread = true;
                        LOG.error("cannot start another thread; further requests wait until a request completes", e);
                    }
                }
            }
        }
        if (!unmounted) {
            return;
        }
        awaitEnd();
        polls.close();
        clones.forEach(Descriptors::close);
        Descriptors.close(sessionFd);
        ended.complete(null);
    }

    /**
     * Ends the threads after their current requests. No request is read after that. The descriptors stay open.
     *
     * @param ask makes the kernel send any request, which wakes a thread that waits for one; can block until the reply
     * @param endNs the latest time at which this method returns
     */
    void stopReading(Runnable ask, long endNs) {
        stopping = true;
        LockSupport.unpark(reserve);
        askUntil(() -> reading.get() == 0, ask, clock, endNs);
    }

    /**
     * Starts a thread that calls {@code ask} repeatedly, and waits until the condition is true or the time {@code endNs} is
     * reached.
     */
    static void askUntil(BooleanSupplier condition, Runnable ask, NanoClock clock, long endNs) {
        BooleanSupplier isOver = () -> condition.getAsBoolean() || clock.nanoTime() - endNs >= 0;
        if (isOver.getAsBoolean()) {
            return;
        }
        // A separate thread makes the calls, because a call can block: if all workers have ended meanwhile, only the next process
        // replies to the request.
        ThreadName.WAKER.builder().start(() -> {
            while (!isOver.getAsBoolean()) {
                ask.run();
            }
        });
        while (!isOver.getAsBoolean()) {
            sleep(clock, STUCK_NS);
        }
    }

    /** Returns whether all threads and all started requests have ended. */
    synchronized boolean haveStopped() {
        return threads == 0 && slots.isComplete();
    }

    private synchronized void addThread() {
        RequestSlot slot = slots.poll();
        if (slot != null) {
            boolean started = false;
            try {
                startThread("added", () -> serve(slot, sessionFd, NONE, true));
                started = true;
            } finally {
                if (!started) {
                    slots.giveBack(slot);
                }
            }
        }
    }

    private static void sleep(NanoClock clock, long durationNs) {
        try {
            clock.sleep(durationNs, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // No code interrupts these threads. An interrupt would only cause the next check to be made earlier.
            LOG.debug("a thread was interrupted while it slept", e);
        }
    }

    /** Waits until all threads have stopped and all started requests have ended. */
    private void awaitEnd() {
        while (!haveStopped()) {
            LockSupport.park(this);
        }
    }
}
