package io.modeldisk.mount.fuse.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.modeldisk.mount.fuse.FileTree;
import io.modeldisk.mount.fuse.Nodes;
import java.lang.foreign.MemorySegment;

/** A reply in memory, in the format of the kernel: {@code struct fuse_out_header} and the body (linux/fuse.h). */
final class ReplyView {
    static final int HEADER_BYTES = 16;
    static final int CAPACITY_BYTES = 4096;

    private static final int ATTR_BYTES = 88;
    private static final int BODY = HEADER_BYTES;
    // The kernel is allowed to cache names for 1 h and attributes for 1 s. Names never change, but attributes such as times do.
    private static final long NAME_VALID_S = 3600;
    private static final long ATTRIBUTES_VALID_S = 1;

    private final MemorySegment out;
    private int bodyBytes;

    ReplyView(MemorySegment out) {
        this.out = out;
    }

    /** Starts a reply with an empty body. */
    void reset() {
        bodyBytes = 0;
    }

    int bodyBytes() {
        return bodyBytes;
    }

    void header(long unique, int errorNumber, int totalBytes) {
        out.set(JAVA_INT, 0, totalBytes);
        out.set(JAVA_INT, 4, -errorNumber);
        out.set(JAVA_LONG, 8, unique);
    }

    /** Writes {@code struct fuse_init_out} of protocol 7.23 and later. */
    void init(int minor, int readaheadBytes, int capabilities, int moreCapabilities, int background, int maxWriteBytes,
        int maxPages) {
        zeros(64);
        out.set(JAVA_INT, BODY, KernelProtocol.MAJOR);
        out.set(JAVA_INT, BODY + 4, minor);
        out.set(JAVA_INT, BODY + 8, readaheadBytes);
        out.set(JAVA_INT, BODY + 12, capabilities);
        out.set(JAVA_SHORT, BODY + 16, (short) background);
        out.set(JAVA_SHORT, BODY + 18, (short) (background * 3 / 4));
        out.set(JAVA_INT, BODY + 20, maxWriteBytes);
        out.set(JAVA_INT, BODY + 24, 1_000_000);
        out.set(JAVA_SHORT, BODY + 28, (short) maxPages);
        out.set(JAVA_INT, BODY + 32, moreCapabilities);
        // max_stack_depth is 1, because the memory behind a file is never itself a file of a stacked file system.
        out.set(JAVA_INT, BODY + 36, (moreCapabilities & KernelProtocol.PASSTHROUGH) != 0 ? 1 : 0);
    }

    /**
     * Begins {@code struct fuse_entry_out}, which {@link #attributes} completes.
     *
     * @param lasting whether later lookups of the name return the same node
     */
    void entry(long node, boolean lasting) {
        zeros(40);
        out.set(JAVA_LONG, BODY, node);
        out.set(JAVA_LONG, BODY + 16, lasting ? NAME_VALID_S : 0);
        out.set(JAVA_LONG, BODY + 24, ATTRIBUTES_VALID_S);
    }

    /** Begins {@code struct fuse_attr_out}, which {@link #attributes} completes. */
    void attributesHeader() {
        zeros(16);
        out.set(JAVA_LONG, BODY, ATTRIBUTES_VALID_S);
    }

    /** Writes {@code struct fuse_open_out}. */
    void open(long handle, int flags) {
        zeros(16);
        out.set(JAVA_LONG, BODY, handle);
        out.set(JAVA_INT, BODY + 8, flags);
    }

    /**
     * Writes {@code struct fuse_open_out} for a file whose content is memory. {@code backing} is the ID that the kernel has
     * given this memory.
     */
    void openMemory(int backing) {
        open(0, KernelProtocol.OPEN_PASSTHROUGH);
        out.set(JAVA_INT, BODY + 12, backing);
    }

    /** Writes {@code struct fuse_notify_inval_inode_out} for all pages of a node. */
    void invalid(long node) {
        zeros(24);
        out.set(JAVA_LONG, BODY, node);
    }

    /** Writes {@code struct fuse_poll_out} with the bits of poll(2). */
    void events(int bits) {
        zeros(8);
        out.set(JAVA_INT, BODY, bits);
    }

    /** Writes {@code struct fuse_notify_poll_wakeup_out} for the open file with this number. */
    void pollWakeup(long number) {
        zeros(8);
        out.set(JAVA_LONG, BODY, number);
    }

    /** Writes a length in bytes, as {@code struct fuse_write_out} or {@code struct fuse_getxattr_out}. */
    void size(int sizeBytes) {
        zeros(8);
        out.set(JAVA_INT, BODY, sizeBytes);
    }

    /** Writes {@code struct fuse_statfs_out}. */
    void statistics(long blocks, long files) {
        zeros(80);
        out.set(JAVA_LONG, BODY, blocks);
        out.set(JAVA_LONG, BODY + 24, files);
        out.set(JAVA_INT, BODY + 40, 4096);
        out.set(JAVA_INT, BODY + 44, FileTree.MAX_NAME_BYTES);
        out.set(JAVA_INT, BODY + 48, 4096);
    }

    /** Writes bytes as the body. The bytes must fit into the capacity of a reply. */
    void bytes(byte[] data) {
        MemorySegment.copy(MemorySegment.ofArray(data), 0, out, BODY, data.length);
        bodyBytes = data.length;
    }

    /**
     * Adds a {@code struct fuse_dirent}.
     *
     * @param next the offset of the next entry
     * @param limitBytes the maximum length of the body
     * @return false if the entry does not fit into the body
     */
    boolean directoryEntry(long node, long next, FileTree.Type type, byte[] name, int limitBytes) {
        int bytes = (24 + name.length + 7) & ~7;
        if (bodyBytes + bytes > Math.min(limitBytes, CAPACITY_BYTES - HEADER_BYTES)) {
            return false;
        }
        int at = BODY + bodyBytes;
        out.asSlice(at, bytes).fill((byte) 0);
        out.set(JAVA_LONG, at, node);
        out.set(JAVA_LONG, at + 8, next);
        out.set(JAVA_INT, at + 16, name.length);
        out.set(JAVA_INT, at + 20, type.number());
        MemorySegment.copy(MemorySegment.ofArray(name), 0, out, at + 24, name.length);
        bodyBytes += bytes;
        return true;
    }

    /** Adds {@code struct fuse_attr}. */
    void attributes(long node, FileTree.Attributes attributes) {
        int at = BODY + bodyBytes;
        out.asSlice(at, ATTR_BYTES).fill((byte) 0);
        bodyBytes += ATTR_BYTES;
        // stat(2) must show the same inode number for all instances of a file, because cp compares the number before and after
        // the open.
        out.set(JAVA_LONG, at, Nodes.withoutInstance(node));
        out.set(JAVA_LONG, at + 8, attributes.sizeBytes());
        out.set(JAVA_LONG, at + 16, (attributes.sizeBytes() + 511) / 512);
        for (int time = 0; time < 3; time++) {
            out.set(JAVA_LONG, at + 24 + 8 * time, attributes.modifiedMs() / 1000);
            out.set(JAVA_INT, at + 48 + 4 * time, (int) (attributes.modifiedMs() % 1000) * 1_000_000);
        }
        out.set(JAVA_INT, at + 60, attributes.mode());
        out.set(JAVA_INT, at + 64, 1);
        out.set(JAVA_INT, at + 68, attributes.access().userId());
        out.set(JAVA_INT, at + 72, attributes.access().groupId());
        out.set(JAVA_INT, at + 80, 4096);
    }

    private void zeros(int bytes) {
        for (int at = 0; at < bytes; at += 8) {
            out.set(JAVA_LONG, BODY + at, 0);
        }
        bodyBytes = bytes;
    }
}
