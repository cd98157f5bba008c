package io.modeldisk.platform.linux;

import io.modeldisk.platform.threads.ThreadName;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

/** Allocates the pages of a mapping before anything else uses them. */
final class Pages {
    static final int BYTES = 4096;

    /**
     * The number of bytes that one call of madvise(2) allocates. The kernel locks the address space of the process during a call,
     * so a call must be short.
     */
    private static final long CALL_BYTES = 64 << 20;

    private static final ThreadFactory THREADS = ThreadName.PAGES.builder().factory();

    private Pages() {}

    /** Returns a size rounded up to whole pages. */
    static long whole(long bytes) {
        return (bytes + BYTES - 1) / BYTES * BYTES;
    }

    /**
     * Allocates and maps all pages of a range. Uses several threads, because the kernel fills each page with zeros, and one
     * thread cannot use the full bandwidth of the memory. Does not request huge pages: in a virtual machine, the free memory that
     * is large enough for huge pages is often memory that the host has reclaimed. The host provides such memory several times
     * more slowly.
     *
     * @param address the start of the range, a multiple of the page size
     * @param bytes the size of the range, a multiple of the page size
     * @return false if this kernel does not support MADV_POPULATE_WRITE; no page is then allocated
     * @throws IOException if there is not enough memory
     */
    static boolean allocate(long address, long bytes) throws IOException {
        AtomicLong next = new AtomicLong();
        AtomicLong failed = new AtomicLong();
        Runnable allocating = () -> {
            long start;
            while (failed.get() == 0 && (start = next.getAndAdd(CALL_BYTES)) < bytes) {
                long result = MemoryCalls.madvise(address + start, Math.min(CALL_BYTES, bytes - start),
                    MemoryCalls.MADV_POPULATE_WRITE);
                if (result < 0) {
                    failed.set(result);
                }
            }
        };
        // The threads do not belong to a ForkJoinPool, as those of a parallel stream would. A caller can be a thread of that
        // pool, and all threads of the pool could then wait for each other's tasks forever.
        long helpers = Math.min(Runtime.getRuntime().availableProcessors(), (bytes + CALL_BYTES - 1) / CALL_BYTES) - 1;
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(THREADS)) {
            LongStream.range(0, helpers).forEach(_ -> threads.execute(allocating));
            allocating.run();
        }
        if (failed.get() == 0) {
            return true;
        }
        if (Errno.EINVAL.is(failed.get())) {
            return false;
        }
        // If there is no memory for a page of a memfd, madvise(2) fails with EFAULT. Its text "Bad address" would be misleading.
        long error = Errno.EFAULT.is(failed.get()) ? Errno.ENOMEM.number() : -failed.get();
        throw new IOException("cannot allocate " + bytes + " bytes of memory: " + Errno.text(error));
    }
}
