package io.modeldisk.test.disk;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * A file or a directory, with its current contents and its contents after a crash. Guarded by the lock of the {@link CrashDisk}.
 */
final class Node {
    static final int PAGE_BYTES = 4096;

    private final long number;
    private final boolean directory;
    private Map<String, Node> entries = new TreeMap<>();
    private Map<String, Node> syncedEntries = new TreeMap<>();
    // If both maps contain the same array for a page, this array is never changed. A write replaces it in {@code pages} first.
    private Map<Long, byte[]> pages = new HashMap<>();
    private final Map<Long, byte[]> syncedPages = new HashMap<>();
    /** The pages whose fsync failed. A later fsync does not write them, because Linux marks such pages as clean. */
    private final Set<Long> lost = new HashSet<>();
    private long sizeBytes;
    private long syncedSizeBytes;
    private long modifiedS = 1_800_000_000;

    Node(long number, boolean directory) {
        this.number = number;
        this.directory = directory;
    }

    long number() {
        return number;
    }

    boolean isDirectory() {
        return directory;
    }

    Map<String, Node> entries() {
        return entries;
    }

    long sizeBytes() {
        return sizeBytes;
    }

    long modifiedS() {
        return modifiedS;
    }

    int pageCount() {
        return pages.size();
    }

    /** Returns the number of new pages that a write would need. */
    int newPages(long offset, int lengthBytes) {
        int added = 0;
        for (long page = offset / PAGE_BYTES; page * PAGE_BYTES < offset + lengthBytes; page++) {
            added += pages.containsKey(page) ? 0 : 1;
        }
        return added;
    }

    void write(long offset, byte[] data) {
        int done = 0;
        while (done < data.length) {
            long page = (offset + done) / PAGE_BYTES;
            int start = (int) ((offset + done) % PAGE_BYTES);
            int length = Math.min(PAGE_BYTES - start, data.length - done);
            System.arraycopy(data, done, own(page), start, length);
            done += length;
        }
        sizeBytes = Math.max(sizeBytes, offset + data.length);
        modifiedS++;
    }

    /** Returns the array of a page for a change. The array is not shared with {@code syncedPages}. */
    private byte[] own(long page) {
        lost.remove(page);
        byte[] current = pages.get(page);
        if (current == null || current == syncedPages.get(page)) {
            current = current == null ? new byte[PAGE_BYTES] : current.clone();
            pages.put(page, current);
        }
        return current;
    }

    byte[] read(long offset, int lengthBytes) {
        byte[] data = new byte[(int) Math.max(0, Math.min(lengthBytes, sizeBytes - offset))];
        int done = 0;
        while (done < data.length) {
            int start = (int) ((offset + done) % PAGE_BYTES);
            int length = Math.min(PAGE_BYTES - start, data.length - done);
            byte[] page = pages.get((offset + done) / PAGE_BYTES);
            if (page != null) {
                System.arraycopy(page, start, data, done, length);
            }
            done += length;
        }
        return data;
    }

    void truncate(long newSizeBytes) {
        pages.keySet().removeIf(page -> page * PAGE_BYTES >= newSizeBytes);
        int start = (int) (newSizeBytes % PAGE_BYTES);
        if (start > 0 && pages.containsKey(newSizeBytes / PAGE_BYTES)) {
            Arrays.fill(own(newSizeBytes / PAGE_BYTES), start, PAGE_BYTES, (byte) 0);
        }
        sizeBytes = newSizeBytes;
        modifiedS++;
    }

    /** Synchronizes the current contents, so they survive a crash. */
    void sync() {
        syncedEntries = new TreeMap<>(entries);
        syncedPages.keySet().retainAll(pages.keySet());
        pages.forEach((page, data) -> {
            if (!lost.contains(page)) {
                syncedPages.put(page, data);
            }
        });
        syncedSizeBytes = sizeBytes;
    }

    /** Marks all unsynchronized pages as lost, so a later successful {@link #sync} does not write them. */
    void failSync() {
        pages.forEach((page, data) -> {
            if (syncedPages.get(page) != data) {
                lost.add(page);
            }
        });
    }

    /** Reverts to the synchronized contents. If {@code random} is not null, also keeps a random half of the other pages. */
    void crash(RandomGenerator random, Set<Node> done) {
        if (!done.add(this)) {
            return;
        }
        entries = new TreeMap<>(syncedEntries);
        Map<Long, byte[]> left = new HashMap<>(syncedPages);
        if (random != null) {
            pages.forEach((page, data) -> {
                if (!lost.contains(page) && random.nextBoolean()) {
                    left.put(page, data);
                    syncedSizeBytes = Math.max(syncedSizeBytes, Math.min(sizeBytes, (page + 1) * PAGE_BYTES));
                }
            });
        }
        pages = left;
        lost.clear();
        sizeBytes = syncedSizeBytes;
        syncedPages.clear();
        syncedPages.putAll(pages);
        entries.values().forEach(node -> node.crash(random, done));
    }
}
