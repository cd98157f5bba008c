package io.modeldisk.mount.handover;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.modeldisk.platform.linux.SharedMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The state of a mount in shared memory, which another process adopts. It has this layout, in the byte order of the machine:
 *
 * <pre>
 *        0  magic, layout version, bytes of an image, 1 if the process exited normally, words
 *      256  files whose memory the kernel uses: node (0 if free), the kernel's number of the memory, open handles
 *      512  identity
 *     4096  open files: node + 1 (0 if free), 1 if writable, number in poll(2), number of the request that has opened it
 *   135168  image 0: sequence, bytes, checksum, content
 *      ...  image 1
 * </pre>
 *
 * <p>The words and the open files are always up to date. An image is a snapshot: a new one overwrites the older of the two, so a
 * process that is killed while it writes an image leaves the other. Thread-safe, except that only one thread at a time is allowed
 * to write an image.
 */
public final class MountState implements AutoCloseable {
    /** The maximum number of open files in the state. */
    public static final int FILES = 4096;

    /** The maximum number of files whose memory the kernel uses. */
    private static final int MEMORIES = 8;

    private static final long MAGIC = 0x314B534944444F4DL;
    private static final int VERSION = 3;
    private static final int LAYOUT = 8;
    private static final int IMAGE_BYTES = 16;
    private static final int IN_ORDER = 24;
    private static final int WORDS = 32;
    private static final int MEMORIES_OFFSET = 256;
    private static final int MEMORY_BYTES = 24;
    private static final int IDENTITY = 512;
    private static final int FILES_OFFSET = 4096;
    private static final int FILE_BYTES = 32;
    private static final int IMAGES_OFFSET = FILES_OFFSET + FILES * FILE_BYTES;
    private static final int IMAGE_HEAD_BYTES = 32;
    private static final long MAX_IMAGE_BYTES = 1 << 30;
    private static final VarHandle LONG = JAVA_LONG.varHandle();

    private final Arena arena;
    private final MemorySegment memory;
    private final int descriptor;
    private final long imageBytes;

    /** The numbers of the state that are always up to date. */
    public enum Word {
        /** The capabilities of the FUSE session, from the second word of INIT. */
        CAPABILITIES,
        /** The number of the last inode that was assigned to a file that is constant while it is open. */
        INSTANCES,
        /** The process ID of the learner; 0 if it is unknown. */
        LEARNER,
        /** The start of this process; see {@link io.modeldisk.platform.linux.CallingProcess#start}. */
        LEARNER_START
    }

    /** Visits files whose memory the kernel uses. */
    @FunctionalInterface
    public interface MemoryVisitor {
        /** Visits a file, with the kernel's number of its memory and the number of its open handles. */
        void visit(long node, int number, int handles) throws IOException;
    }

    /** Visits open files. */
    @FunctionalInterface
    public interface FileVisitor {
        /**
         * Visits an open file.
         *
         * @param number the number of the handle
         * @param poll the kernel's number of the open file, if a process waits in poll(2) for this file; otherwise 0
         */
        void visit(int number, long node, boolean writable, long poll) throws IOException;
    }

    private MountState(Arena arena, SharedMemory.Mapping mapping, long imageBytes) {
        this.arena = arena;
        this.memory = mapping.segment();
        this.descriptor = mapping.descriptor();
        this.imageBytes = imageBytes;
    }

    /**
     * Allocates the state of a new mount.
     *
     * @param identity describes the mount; a process with another identity cannot continue the mount
     * @param imageBytes the maximum size of an image
     */
    static MountState create(String identity, long imageBytes) throws IOException {
        if (imageBytes > MAX_IMAGE_BYTES) {
            throw new IOException("the state of this mount needs " + imageBytes + " bytes, but the limit is "
                + MAX_IMAGE_BYTES);
        }
        Arena arena = Arena.ofShared();
        try {
            long whole = (imageBytes + IMAGE_HEAD_BYTES + 4095) / 4096 * 4096;
            MountState state = new MountState(arena, SharedMemory.create(IMAGES_OFFSET + 2 * whole, arena),
                whole - IMAGE_HEAD_BYTES);
            state.memory.set(JAVA_LONG, IMAGE_BYTES, state.imageBytes);
            state.memory.set(JAVA_INT, LAYOUT, VERSION);
            state.memory.setString(IDENTITY, identity);
            LONG.setRelease(state.memory, 0L, MAGIC);
            return state;
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /**
     * Adopts the state of the previous process.
     *
     * @throws IOException if the memory is not such a state, or was written by a version of modeldisk with another layout; the
     *     caller must then close the descriptor
     */
    static MountState adopt(int descriptor) throws IOException {
        Arena arena = Arena.ofShared();
        SharedMemory.Mapping mapping;
        try {
            mapping = SharedMemory.adopt(descriptor, arena);
        } catch (IOException e) {
            arena.close();
            throw e;
        }
        MemorySegment memory = mapping.segment();
        long bytes = memory.byteSize() < IMAGES_OFFSET ? 0 : memory.get(JAVA_LONG, IMAGE_BYTES);
        if (bytes <= 0 || memory.get(JAVA_LONG, 0) != MAGIC || memory.get(JAVA_INT, LAYOUT) != VERSION
            || memory.byteSize() != IMAGES_OFFSET + 2 * (bytes + IMAGE_HEAD_BYTES)) {
            int version = bytes > 0 ? memory.get(JAVA_INT, LAYOUT) : 0;
            arena.close();
            throw new IOException("another version of modeldisk has saved the state (layout " + version
                + ", but this process can read only layout " + VERSION + ")");
        }
        return new MountState(arena, mapping, bytes);
    }

    int descriptor() {
        return descriptor;
    }

    /** Returns the identity that was passed to {@link #create}. */
    String identity() {
        return memory.getString(IDENTITY);
    }

    /** Returns the maximum size of an image, which is at least the size that was passed to {@link #create}. */
    long imageBytes() {
        return imageBytes;
    }

    /** Returns a word. */
    public long word(Word word) {
        return (long) LONG.getAcquire(memory, (long) WORDS + word.ordinal() * Long.BYTES);
    }

    /** Changes a word. */
    public void word(Word word, long value) {
        LONG.setRelease(memory, (long) WORDS + word.ordinal() * Long.BYTES, value);
    }

    /** Records that the process has saved its last image and is about to exit. */
    void stoppedInOrder() {
        LONG.setRelease(memory, (long) IN_ORDER, 1L);
    }

    /**
     * Returns whether the previous process called {@link #stoppedInOrder}, so its last image contains its whole state. Returns
     * true only once.
     */
    boolean takeOrder() {
        return (long) LONG.getAndSet(memory, (long) IN_ORDER, 0L) != 0;
    }

    /**
     * Records an open file.
     *
     * @param request the number of the request that has opened the file
     * @return false if the table of open files is full, so the file will not be open after a restart of this process
     */
    public boolean opened(long number, long node, boolean writable, long request) {
        if (number < 0 || number >= FILES) {
            return false;
        }
        long at = FILES_OFFSET + number * FILE_BYTES;
        memory.set(JAVA_LONG, at + 8, writable ? 1 : 0);
        memory.set(JAVA_LONG, at + 16, 0);
        memory.set(JAVA_LONG, at + 24, request);
        LONG.setRelease(memory, at, node + 1);
        return true;
    }

    /** Returns the number of the handle that a request has opened; -1 if there is none. */
    public int openedBy(long request) {
        for (int i = 0; i < FILES; i++) {
            long at = FILES_OFFSET + (long) i * FILE_BYTES;
            if ((long) LONG.getAcquire(memory, at) != 0 && memory.get(JAVA_LONG, at + 24) == request) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Records that the kernel uses memory for a node. {@code number} is the kernel's number of the memory. If {@code handles} is
     * 0, the kernel no longer uses it.
     */
    public synchronized void memory(long node, int number, int handles) {
        long free = -1;
        for (int i = MEMORIES - 1; i >= 0; i--) {
            long at = MEMORIES_OFFSET + (long) i * MEMORY_BYTES;
            long used = memory.get(JAVA_LONG, at);
            if (used == node) {
                free = at;
                break;
            }
            free = used == 0 ? at : free;
        }
        if (free >= 0) {
            memory.set(JAVA_LONG, free + 8, number);
            memory.set(JAVA_LONG, free + 16, handles);
            LONG.setRelease(memory, free, handles == 0 ? 0 : node);
        }
    }

    /** Visits all files whose memory the kernel uses. */
    public void forEachMemory(MemoryVisitor visitor) throws IOException {
        for (int i = 0; i < MEMORIES; i++) {
            long at = MEMORIES_OFFSET + (long) i * MEMORY_BYTES;
            long node = (long) LONG.getAcquire(memory, at);
            if (node != 0) {
                visitor.visit(node, (int) memory.get(JAVA_LONG, at + 8), (int) memory.get(JAVA_LONG, at + 16));
            }
        }
    }

    /** Records that a process waits in poll(2) for an open file. */
    public void polled(long number, long poll) {
        if (number >= 0 && number < FILES) {
            LONG.setRelease(memory, FILES_OFFSET + number * FILE_BYTES + 16, poll);
        }
    }

    /** Records that a file was released. */
    public void released(long number) {
        if (number >= 0 && number < FILES) {
            LONG.setRelease(memory, FILES_OFFSET + number * FILE_BYTES, 0L);
        }
    }

    /** Visits all open files. */
    public void forEachFile(FileVisitor visitor) throws IOException {
        for (int i = 0; i < FILES; i++) {
            long at = FILES_OFFSET + (long) i * FILE_BYTES;
            long node = (long) LONG.getAcquire(memory, at);
            if (node != 0) {
                visitor.visit(i, node - 1, memory.get(JAVA_LONG, at + 8) != 0, memory.get(JAVA_LONG, at + 16));
            }
        }
    }

    private long sequence(int image) {
        return (long) LONG.getAcquire(memory, at(image));
    }

    private long at(int image) {
        return IMAGES_OFFSET + image * (imageBytes + IMAGE_HEAD_BYTES);
    }

    private ByteBuffer content(int image) {
        return memory.asSlice(at(image) + IMAGE_HEAD_BYTES, imageBytes).asByteBuffer().order(ByteOrder.nativeOrder());
    }

    private static long checksum(ByteBuffer content) {
        CRC32C sum = new CRC32C();
        sum.update(content);
        return sum.getValue();
    }

    private int newest() {
        return sequence(1) > sequence(0) ? 1 : 0;
    }

    /** Returns a buffer for the content of a new image. The older of the two images is lost. */
    ByteBuffer beginImage() {
        int older = 1 - newest();
        LONG.setRelease(memory, at(older), 0L);
        return content(older);
    }

    /** Makes the buffer of {@link #beginImage} the newest image. */
    void endImage(ByteBuffer content) {
        int newest = newest();
        long head = at(1 - newest);
        int bytes = content.position();
        memory.set(JAVA_LONG, head + 8, bytes);
        memory.set(JAVA_LONG, head + 16, checksum(content.duplicate().flip()));
        LONG.setRelease(memory, head, sequence(newest) + 1);
    }

    /** Deletes both images. */
    void dropImages() {
        LONG.setRelease(memory, at(0), 0L);
        LONG.setRelease(memory, at(1), 0L);
    }

    /** Returns the newest image; null if there is none, or if it is damaged. */
    ByteBuffer image() {
        int newest = newest();
        long bytes = memory.get(JAVA_LONG, at(newest) + 8);
        if (sequence(newest) == 0 || bytes < 0 || bytes > imageBytes) {
            return null;
        }
        ByteBuffer content = content(newest).limit((int) bytes);
        return checksum(content.duplicate()) == memory.get(JAVA_LONG, at(newest) + 16) ? content : null;
    }

    @Override
    public void close() {
        arena.close();
    }
}
