package io.modeldisk.test.disk;

import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.threads.ScopedLock.Held;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Serves the FUSE requests of a {@link CrashDisk}, one at a time. The numbers and layouts are from {@code linux/fuse.h}. */
final class Server implements Runnable {
    private static final int HEADER_BYTES = 40;
    private static final int REPLY_HEADER_BYTES = 16;
    private static final int WRITE_BYTES = 40;
    private static final int MAX_WRITE_BYTES = 1 << 20;
    private static final int BIG_WRITES = 1 << 5;
    private static final int MAX_PAGES = 1 << 22;
    private static final int SIZE_ATTRIBUTE = 1 << 3;
    private static final int NO_REPLY = -1;
    private static final int DIRECTORY_MODE = 040755;
    private static final int FILE_MODE = 0100644;

    private final CrashDisk disk;
    private final int fd;
    private final ByteBuffer in = buffer(MAX_WRITE_BYTES + Node.PAGE_BYTES);
    private final ByteBuffer out = buffer(MAX_WRITE_BYTES + Node.PAGE_BYTES);

    Server(CrashDisk disk, int fd) {
        this.disk = disk;
        this.fd = fd;
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void run() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            MemorySegment vector = arena.allocate(2 * Long.BYTES, Long.BYTES);
            long got = receive(state, vector);
            while (got >= 0 || got == -Errno.EINTR.number() || got == -Errno.ENOENT.number()) {
                if (got >= 0) {
                    in.position(HEADER_BYTES).limit((int) got);
                    out.clear().position(REPLY_HEADER_BYTES);
                    int result = serve();
                    if (result != NO_REPLY) {
                        reply(state, vector, result);
                    }
                }
                got = receive(state, vector);
            }
        } finally {
            Descriptors.close(fd);
        }
    }

    private long receive(MemorySegment state, MemorySegment vector) {
        in.clear();
        return transfer(state, vector, in, in.capacity(), true);
    }

    private long transfer(MemorySegment state, MemorySegment vector, ByteBuffer buffer, int bytes, boolean read) {
        vector.set(ValueLayout.JAVA_LONG, 0, MemorySegment.ofBuffer(buffer.duplicate().clear()).address());
        vector.set(ValueLayout.JAVA_LONG, Long.BYTES, bytes);
        return read
            ? Descriptors.readv(state, fd, vector.address(), 1)
            : Descriptors.writev(state, fd, vector.address(), 1);
    }

    private void reply(MemorySegment state, MemorySegment vector, int errno) {
        int bytes = errno == 0 ? out.position() : REPLY_HEADER_BYTES;
        out.putInt(0, bytes).putInt(4, -errno).putLong(8, in.getLong(8));
        // A failure is ignored, because it means that no process waits for the reply any more.
        transfer(state, vector, out, bytes, false);
    }

    /** Serves the request in {@code in}. Returns 0, or an error number after a failure, or {@link #NO_REPLY}. */
    private int serve() {
        try (Held _ = disk.lock().hold()) {
            return dispatch(in.getInt(4));
        } catch (DiskException e) {
            return e.errno();
        }
    }

    private int dispatch(int opcode) throws DiskException {
        switch (opcode) {
            case 2, 42 -> { // FORGET, BATCH_FORGET
                return NO_REPLY;
            }
            case 1 -> entry(child(node(), text())); // LOOKUP
            case 3 -> attributes(node()); // GETATTR
            case 4 -> setAttributes(node()); // SETATTR
            case 9 -> { // MKDIR
                in.position(HEADER_BYTES + 8);
                entry(disk.create(node(), text(), true));
            }
            case 10, 11 -> disk.remove(node(), text()); // UNLINK, RMDIR
            case 12 -> rename(8); // RENAME
            case 45 -> rename(16); // RENAME2
            case 14, 27 -> opened(); // OPEN, OPENDIR
            case 15 -> out.put(node().read(in.getLong(HEADER_BYTES + 8), in.getInt(HEADER_BYTES + 16))); // READ
            case 16 -> write(node()); // WRITE
            case 17 -> statistics(); // STATFS
            case 20, 30 -> disk.sync(node()); // FSYNC, FSYNCDIR
            case 26 -> handshake(); // INIT
            case 28 -> list(node()); // READDIR
            case 35 -> { // CREATE
                in.position(HEADER_BYTES + 16);
                entry(disk.create(node(), text(), false));
                opened();
            }
            case 18, 25, 29, 34, 38 -> { // RELEASE, FLUSH, RELEASEDIR, ACCESS, DESTROY: nothing to do
            }
            default -> {
                return Errno.ENOSYS.number();
            }
        }
        return 0;
    }

    private Node node() throws DiskException {
        Node node = disk.node(in.getLong(16));
        if (node == null) {
            throw new DiskException(Errno.ESTALE.number());
        }
        return node;
    }

    private static Node child(Node parent, String name) throws DiskException {
        Node child = parent.entries().get(name);
        if (child == null) {
            throw new DiskException(Errno.ENOENT.number());
        }
        return child;
    }

    /** Reads a zero-terminated text at the position of {@code in}. */
    private String text() {
        int start = in.position();
        while (in.get() != 0) {
            // The loop ends with the position after the zero byte.
        }
        byte[] bytes = new byte[in.position() - 1 - start];
        in.get(start, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private void handshake() {
        int pages = MAX_WRITE_BYTES / Node.PAGE_BYTES;
        out.putInt(7).putInt(31).putInt(0).putInt(BIG_WRITES | MAX_PAGES).putShort((short) 16).putShort((short) 12)
            .putInt(MAX_WRITE_BYTES).putInt(1).putShort((short) pages).putShort((short) 0).put(new byte[32]);
    }

    private void entry(Node node) {
        // With these zero timeouts, the kernel caches neither the name nor the attributes.
        out.putLong(node.number()).putLong(0).putLong(0).putLong(0).putLong(0);
        attributeBody(node);
    }

    private void attributes(Node node) {
        out.putLong(0).putLong(0);
        attributeBody(node);
    }

    private void attributeBody(Node node) {
        out.putLong(node.number()).putLong(node.sizeBytes()).putLong((node.sizeBytes() + 511) / 512);
        out.putLong(node.modifiedS()).putLong(node.modifiedS()).putLong(node.modifiedS());
        out.putInt(0).putInt(0).putInt(0).putInt(node.isDirectory() ? DIRECTORY_MODE : FILE_MODE);
        out.putInt(node.isDirectory() ? 2 : 1).putInt(0).putInt(0).putInt(0).putInt(Node.PAGE_BYTES).putInt(0);
    }

    private void setAttributes(Node node) throws DiskException {
        if ((in.getInt(HEADER_BYTES) & SIZE_ATTRIBUTE) != 0) {
            disk.truncate(node, in.getLong(HEADER_BYTES + 16));
        }
        attributes(node);
    }

    private void opened() {
        out.putLong(0).putInt(0).putInt(0);
    }

    private void write(Node node) throws DiskException {
        byte[] data = new byte[in.getInt(HEADER_BYTES + 16)];
        in.get(HEADER_BYTES + WRITE_BYTES, data);
        disk.write(node, in.getLong(HEADER_BYTES + 8), data);
        out.putInt(data.length).putInt(0);
    }

    private void rename(int namesAt) throws DiskException {
        Node newParent = disk.node(in.getLong(HEADER_BYTES));
        in.position(HEADER_BYTES + namesAt);
        String name = text();
        disk.rename(node(), name, newParent, text());
    }

    private void statistics() {
        long free = disk.freePages();
        out.putLong(free).putLong(free).putLong(free).putLong(1 << 20).putLong(1 << 20);
        out.putInt(Node.PAGE_BYTES).putInt(255).putInt(Node.PAGE_BYTES).putInt(0).put(new byte[24]);
    }

    private void list(Node directory) {
        List<String> names = new ArrayList<>(List.of(".", ".."));
        names.addAll(directory.entries().keySet());
        long at = in.getLong(HEADER_BYTES + 8);
        int limit = in.getInt(HEADER_BYTES + 16);
        for (int i = (int) at; i < names.size(); i++) {
            byte[] name = names.get(i).getBytes(StandardCharsets.UTF_8);
            int bytes = (24 + name.length + 7) & ~7;
            if (out.position() - REPLY_HEADER_BYTES + bytes > limit) {
                return;
            }
            Node node = i < 2 ? directory : directory.entries().get(names.get(i));
            out.putLong(node.number()).putLong(i + 1L).putInt(name.length).putInt(node.isDirectory() ? 4 : 8).put(name)
                .put(new byte[bytes - 24 - name.length]);
        }
    }
}
