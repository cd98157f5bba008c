package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import java.util.Arrays;

/** Maps handle numbers to open handles. Thread-safe. A lookup acquires no lock and allocates no memory. */
final class HandleTable {
    private static final int FIRST_CAPACITY = 64;

    // Each change replaces the array, because lookups are frequent and changes are rare.
    private volatile FileHandle[] handles = new FileHandle[FIRST_CAPACITY];

    /** Adds a handle and returns its number. */
    synchronized long add(FileHandle handle) {
        int free = 0;
        while (free < handles.length && handles[free] != null) {
            free++;
        }
        FileHandle[] copy = Arrays.copyOf(handles, free == handles.length ? 2 * free : handles.length);
        copy[free] = handle;
        handles = copy;
        return free;
    }

    /** Returns the handle with this number. */
    FileHandle handle(long number) throws ErrnoException {
        FileHandle[] all = handles;
        FileHandle handle = number >= 0 && number < all.length ? all[(int) number] : null;
        if (handle == null) {
            throw new ErrnoException(Errno.EIO, "file handle " + number + " is not open");
        }
        return handle;
    }

    /** Removes a handle and returns it. Returns null if the number is not in use. */
    synchronized FileHandle remove(long number) {
        if (number < 0 || number >= handles.length) {
            return null;
        }
        FileHandle[] copy = handles.clone();
        FileHandle handle = copy[(int) number];
        copy[(int) number] = null;
        handles = copy;
        return handle;
    }

    /** Removes and releases all handles. Is called when the kernel no longer sends releases. */
    void releaseAll() {
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
