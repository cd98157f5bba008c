package io.modeldisk.mount.fuse;

import io.modeldisk.mount.handover.MountState;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Provides files whose content is memory of this process. If possible, the kernel accesses the memory directly, without requests
 * to this process (FUSE passthrough, Linux 6.9, CAP_SYS_ADMIN). Otherwise such a file is a symbolic link to /proc/PID/fd/FD, the
 * descriptor of the memory in this process, which processes of the same user and the same PID namespace can open. Thread-safe.
 */
public final class MemoryFiles {
    private static final long BACKING_OPEN = 0x4010E501L;
    private static final long BACKING_CLOSE = 0x4004E502L;
    private static final int BACKING_BYTES = 16;
    private static final int PAGE_BYTES = 4096;

    private final int device;
    /** The reason why the files are symbolic links; null if the kernel accesses the memory directly. */
    private final String linkCause;
    private final Map<Long, Backing> open = new HashMap<>();
    /** Null if the mount ends with its process. */
    private MountState state;

    /**
     * Memory that the kernel uses for a node, with the kernel's number of this memory, and the number of open handles of the
     * node.
     */
    private record Backing(DataMemory memory, int number, int handles) {}

    private MemoryFiles(int device, String linkCause) {
        this.device = device;
        this.linkCause = linkCause;
    }

    /** Returns an object that shows the files as symbolic links. {@code cause} is the reason for status.json. */
    public static MemoryFiles links(String cause) {
        return new MemoryFiles(-1, cause);
    }

    /**
     * Checks whether the kernel can access memory directly. Returns an object that uses this access if it is available, and
     * symbolic links if not.
     *
     * @param device the descriptor of a session for which the kernel has offered passthrough in INIT
     */
    public static MemoryFiles ofKernel(int device) {
        return new MemoryFiles(device, trial(device));
    }

    private static String trial(int device) {
        try (DataMemory memory = DataMemory.allocateShareable(PAGE_BYTES)) {
            int number = register(device, memory);
            if (number > 0) {
                unregister(device, number);
                return null;
            }
            return "FUSE passthrough failed with " + Errno.nameOf(-number)
                + (number == -Errno.EPERM.number() ? ": it needs root with CAP_SYS_ADMIN" : "");
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    /** From now on, records the open files in this state. First takes over the files that the state already contains. */
    public synchronized void record(MountState recorded, Nodes nodes) throws IOException {
        state = recorded;
        recorded.forEachMemory((node, number, handles) -> open.put(node,
            new Backing(nodes.file(node).memory(Cancellation.NONE), number, handles)));
    }

    private void record(long node) {
        if (state != null) {
            Backing backing = open.get(node);
            state.memory(node, backing == null ? 0 : backing.number(), backing == null ? 0 : backing.handles());
        }
    }

    /** Returns whether the files are symbolic links. */
    boolean areLinks() {
        return linkCause != null;
    }

    @Override
    public String toString() {
        return linkCause == null ? "passthrough" : "link (" + linkCause + ")";
    }

    /**
     * Registers the memory of a node with the kernel, if it is not registered yet. Returns the kernel's number of the memory, for
     * the reply to an OPEN request.
     */
    public synchronized int opened(long node, DataMemory memory) throws IOException {
        Backing backing = open.get(node);
        if (backing != null && backing.memory() != memory) {
            // The kernel allows only one memory for a node at a time.
            throw new ErrnoException(Errno.EBUSY, "a process still has the buffer of an earlier learner open");
        }
        int number = backing != null ? backing.number() : register(device, memory);
        if (number <= 0) {
            throw new IOException("the kernel does not accept the memory of a file: " + Errno.nameOf(-number));
        }
        open.put(node, new Backing(memory, number, backing == null ? 1 : backing.handles() + 1));
        record(node);
        return number;
    }

    /** Records that a handle of a node was released. */
    public synchronized void released(long node) {
        Backing backing = open.get(node);
        if (backing != null && backing.handles() > 1) {
            open.put(node, new Backing(backing.memory(), backing.number(), backing.handles() - 1));
        } else if (backing != null) {
            open.remove(node);
            unregister(device, backing.number());
        }
        record(node);
    }

    /** Returns the target of the symbolic link to this memory. */
    public static byte[] target(DataMemory memory) {
        return ("/proc/" + ProcessHandle.current().pid() + "/fd/" + memory.descriptor())
            .getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the kernel's number of the memory, which is positive, or the negative error number. */
    private static int register(int device, DataMemory memory) {
        try (Arena arena = Arena.ofConfined()) {
            // struct fuse_backing_map: the descriptor, flags and padding.
            MemorySegment map = arena.allocate(BACKING_BYTES, Long.BYTES);
            map.set(ValueLayout.JAVA_INT, 0, memory.descriptor());
            return Descriptors.ioctl(device, BACKING_OPEN, map);
        }
    }

    private static void unregister(int device, int number) {
        // An error is ignored, because the kernel has already deleted all numbers after an unmount.
        Descriptors.ioctl(device, BACKING_CLOSE, number);
    }
}
