package io.modeldisk.mount.fuse;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * A request in memory, as the kernel wrote it: {@code struct fuse_in_header} and the first fields of its body (linux/fuse.h). The
 * first {@value #HEAD_BYTES} bytes are apart from the rest, so that the data of a write starts on a page.
 */
final class RequestView {
    /** The header and the fields of a write. */
    static final int HEAD_BYTES = 80;

    private static final int OPCODE = 4;
    private static final int UNIQUE = 8;
    private static final int NODE = 16;
    private static final int BODY = 40;

    private final MemorySegment head;
    private final MemorySegment rest;
    private final long restOffset;

    RequestView(MemorySegment head, MemorySegment rest, long restOffset) {
        this.head = head;
        this.rest = rest;
        this.restOffset = restOffset;
    }

    int lengthBytes() {
        return head.get(JAVA_INT, 0);
    }

    /** The whole request. */
    byte[] copy() {
        byte[] bytes = new byte[lengthBytes()];
        int inHead = Math.min(bytes.length, HEAD_BYTES);
        MemorySegment.copy(head, JAVA_BYTE, 0, bytes, 0, inHead);
        MemorySegment.copy(rest, JAVA_BYTE, restOffset, bytes, inHead, bytes.length - inHead);
        return bytes;
    }

    /** Makes this the request that was copied. */
    void load(byte[] bytes) {
        int inHead = Math.min(bytes.length, HEAD_BYTES);
        MemorySegment.copy(bytes, 0, head, JAVA_BYTE, 0, inHead);
        MemorySegment.copy(bytes, inHead, rest, JAVA_BYTE, restOffset, bytes.length - inHead);
    }

    int opcode() {
        return head.get(JAVA_INT, OPCODE);
    }

    long unique() {
        return head.get(JAVA_LONG, UNIQUE);
    }

    long node() {
        return head.get(JAVA_LONG, NODE);
    }

    /** INIT: the kernel's protocol version. */
    int major() {
        return head.get(JAVA_INT, BODY);
    }

    int minor() {
        return head.get(JAVA_INT, BODY + 4);
    }

    int maxReadaheadBytes() {
        return head.get(JAVA_INT, BODY + 8);
    }

    int capabilities() {
        return head.get(JAVA_INT, BODY + 12);
    }

    /** OPEN: the flags of open(2). */
    int openFlags() {
        return head.get(JAVA_INT, BODY);
    }

    /** READ, WRITE, READDIR, FSYNC, FLUSH, RELEASE: the handle. */
    long handle() {
        return head.get(JAVA_LONG, BODY);
    }

    /** READ, WRITE, READDIR. */
    long offset() {
        return head.get(JAVA_LONG, BODY + 8);
    }

    /** READ, WRITE, READDIR. */
    int sizeBytes() {
        return head.get(JAVA_INT, BODY + 16);
    }

    /** SETATTR: the attributes to set, as bits. */
    int validAttributes() {
        return head.get(JAVA_INT, BODY);
    }

    /** SETATTR: the size to truncate to. */
    long newSizeBytes() {
        return head.get(JAVA_LONG, BODY + 16);
    }

    /** GETXATTR, LISTXATTR: the size of the process's buffer; 0 asks for the length. */
    int roomBytes() {
        return head.get(JAVA_INT, BODY);
    }

    /** INTERRUPT: the number of the interrupted request. */
    long interruptedUnique() {
        return head.get(JAVA_LONG, BODY);
    }

    /** LOOKUP: the name. */
    String name() {
        return text(BODY);
    }

    /** GETXATTR: the attribute's name. */
    String attributeName() {
        return text(BODY + 8);
    }

    /** The bytes from here to the final zero. */
    private String text(int from) {
        byte[] name = new byte[Math.max(0, lengthBytes() - from - 1)];
        for (int i = 0; i < name.length; i++) {
            int at = from + i;
            name[i] = at < HEAD_BYTES ? head.get(JAVA_BYTE, at) : rest.get(JAVA_BYTE, restOffset + at - HEAD_BYTES);
        }
        return new String(name, StandardCharsets.UTF_8);
    }
}
