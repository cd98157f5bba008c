package io.modeldisk.platform.linux;

import java.io.IOException;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/** Allocates the pages of a mapping before anything else uses them. */
final class Pages {
    static final int BYTES = 4096;

    /** The kernel locks the address space of the process during a call, so a call must not be long. */
    private static final long CALL_BYTES = 64 << 20;

    private Pages() {}

    /** Returns a size rounded up to whole pages. */
    static long whole(long bytes) {
        return (bytes + BYTES - 1) / BYTES * BYTES;
    }

    /**
     * Allocates and maps all pages of a range. The threads of the common pool help, because the kernel fills each page with
     * zeros, and one thread does not reach the throughput of the memory. Does not ask for huge pages: in a virtual machine, the
     * host may have taken back just the free memory that is large enough for them, and gives it again several times slower.
     *
     * @param address the start of the range, a multiple of the page size
     * @param bytes the size of the range, a multiple of the page size
     * @return whether this kernel can do so; if not, nothing has been allocated
     * @throws IOException if there is not enough memory
     */
    static boolean allocate(long address, long bytes) throws IOException {
        OptionalLong failed = LongStream.range(0, (bytes + CALL_BYTES - 1) / CALL_BYTES).parallel()
            .map(call -> MemoryCalls.madvise(address + call * CALL_BYTES,
                Math.min(CALL_BYTES, bytes - call * CALL_BYTES),
                MemoryCalls.MADV_POPULATE_WRITE))
            .filter(result -> result < 0).min();
        if (failed.isEmpty()) {
            return true;
        }
        if (Errno.EINVAL.is(failed.getAsLong())) {
            return false;
        }
        // Without memory for a page of a memfd, the call fails with EFAULT, whose text "Bad address" would mislead.
        long error = Errno.EFAULT.is(failed.getAsLong()) ? Errno.ENOMEM.number() : -failed.getAsLong();
        throw new IOException("cannot allocate " + bytes + " bytes of memory: " + Errno.text(error));
    }
}
