package io.modeldisk.mount.fuse;

import io.modeldisk.mount.handover.MountState;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Errno;
import java.util.Arrays;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Maps handle numbers to open handles. If the mount outlives its process, also records the handles in the {@link MountState}.
 * Thread-safe. A lookup acquires no lock and allocates no memory.
 */
public final class HandleTable {
    private static final Logger LOG = LogManager.getLogger(HandleTable.class);
    private static final int FIRST_CAPACITY = 64;

    /**
     * The handle of a file that was open when this process took over the mount, and whose content only the previous process had.
     */
    public record Lost(String reason) implements FileHandle {
        private ErrnoException lost() {
            return new ErrnoException(Errno.ESTALE, reason);
        }

        @Override
        public void read(long offset, int lengthBytes, DataRequest request) throws ErrnoException {
            throw lost();
        }

        @Override
        public int write(long offset, int lengthBytes, DataRequest request) throws ErrnoException {
            throw lost();
        }

        @Override
        public void synchronize(Cancellation cancellation) throws ErrnoException {
            throw lost();
        }
    }

    // Each change replaces the array, because lookups are frequent and changes are rare.
    private volatile FileHandle[] handles = new FileHandle[FIRST_CAPACITY];
    /** Null if the mount ends with its process. */
    private final MountState state;
    private boolean loggedFull;

    /** Creates a table. {@code state} is null if the mount ends with its process. */
    public HandleTable(MountState state) {
        this.state = state;
    }

    /** Adds a handle that the previous process has opened under this number. */
    public synchronized void restore(int number, FileHandle handle) {
        FileHandle[] copy = Arrays.copyOf(handles, Math.max(handles.length, number + 1));
        copy[number] = handle;
        handles = copy;
    }

    /** Adds a handle that a request has opened, and returns the number of the handle. */
    public synchronized long add(FileHandle handle, long node, boolean writable, long request) {
        int free = 0;
        while (free < handles.length && handles[free] != null) {
            free++;
        }
        FileHandle[] copy = Arrays.copyOf(handles, free == handles.length ? 2 * free : handles.length);
        copy[free] = handle;
        handles = copy;
        if (state != null && !state.opened(free, node, writable, request) && !loggedFull) {
            loggedFull = true;
            LOG.warn(
                "more than {} files are open: all files beyond this number fail with EIO after a restart of this process",
                MountState.FILES);
        }
        return free;
    }

    /** Returns the handle with this number. */
    public FileHandle handle(long number) throws ErrnoException {
        FileHandle[] all = handles;
        FileHandle handle = number >= 0 && number < all.length ? all[(int) number] : null;
        if (handle == null) {
            throw new ErrnoException(Errno.EIO, "file handle " + number + " is not open");
        }
        return handle;
    }

    /** Removes a handle and returns it. Returns null if the number is not in use. */
    public synchronized FileHandle remove(long number) {
        if (number < 0 || number >= handles.length) {
            return null;
        }
        FileHandle[] copy = handles.clone();
        FileHandle handle = copy[(int) number];
        copy[(int) number] = null;
        handles = copy;
        if (state != null) {
            state.released(number);
        }
        return handle;
    }

    /** Removes and releases all handles. This method is called when the kernel no longer sends releases. */
    public void releaseAll() {
        FileHandle[] all;
        synchronized (this) {
            all = handles;
            handles = new FileHandle[FIRST_CAPACITY];
        }
        for (FileHandle handle : all) {
            if (handle != null) {
                handle.release();
            }
        }
    }
}
