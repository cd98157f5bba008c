package io.modeldisk.mount.fuse.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.modeldisk.mount.fuse.DataRequest;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * A request in memory, in the format of the kernel: {@code struct fuse_in_header} and the first fields of the body
 * (linux/fuse.h). The first {@value #HEAD_BYTES} bytes are stored in a separate segment, so the data of a write starts at a page.
 */
record RequestView(MemorySegment head, MemorySegment rest, long restOffset) {
    /** The length of a WRITE request without its data: the header and the fields of the body. */
    static final int HEAD_BYTES = 80;

    private static final int OPCODE = 4;
    private static final int UNIQUE = 8;
    private static final int NODE = 16;
    private static final int THREAD_ID = 32;
    private static final int BODY = 40;

    int lengthBytes() {
        return head.get(JAVA_INT, 0);
    }

    /** Returns a copy of the whole request. */
    byte[] copy() {
        byte[] bytes = new byte[lengthBytes()];
        int inHead = Math.min(bytes.length, HEAD_BYTES);
        MemorySegment.copy(head, JAVA_BYTE, 0, bytes, 0, inHead);
        MemorySegment.copy(rest, JAVA_BYTE, restOffset, bytes, inHead, bytes.length - inHead);
        return bytes;
    }

    /** Loads a request from a copy. */
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

    /** Returns the ID of the calling thread in the PID namespace of the mount; 0 if that namespace does not contain it. */
    int threadId() {
        return head.get(JAVA_INT, THREAD_ID);
    }

    /** Returns the kernel's major protocol version, from an INIT request. */
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

    /** Returns the second word of capabilities, from an INIT request; 0 if the kernel has none. */
    int moreCapabilities() {
        return (capabilities() & KernelProtocol.INIT_EXT) == 0 ? 0 : head.get(JAVA_INT, BODY + 16);
    }

    /** Returns the flags of open(2), from an OPEN request. */
    int openFlags() {
        return head.get(JAVA_INT, BODY);
    }

    /** Returns the number of the handle, from a READ, WRITE, READDIR, FSYNC, FLUSH, RELEASE or POLL request. */
    long handle() {
        return head.get(JAVA_LONG, BODY);
    }

    /** Returns the offset, from a READ, WRITE, READDIR or FALLOCATE request. */
    long offset() {
        return head.get(JAVA_LONG, BODY + 8);
    }

    /** Returns the length, from a READ, WRITE or READDIR request, at most {@link DataRequest#MAX_REQUEST_BYTES}. */
    int sizeBytes() {
        return Math.min(head.get(JAVA_INT, BODY + 16), DataRequest.MAX_REQUEST_BYTES);
    }

    /** Returns the number that the kernel has assigned to the open file, from a POLL request. */
    long pollNumber() {
        return head.get(JAVA_LONG, BODY + 8);
    }

    /** Returns whether a process waits until the file of a POLL request has events. */
    boolean pollWaits() {
        return (head.get(JAVA_INT, BODY + 16) & KernelProtocol.POLL_WAITS) != 0;
    }

    /** Returns the length of the range, from a FALLOCATE request. {@link #offset} returns the start of the range. */
    long rangeBytes() {
        return head.get(JAVA_LONG, BODY + 16);
    }

    /** Returns the flags of fallocate(2), from a FALLOCATE request. */
    int rangeMode() {
        return head.get(JAVA_INT, BODY + 24);
    }

    /** Returns whether this request changes a file, so its order relative to other changes of the file matters. */
    boolean isChange() {
        return switch (opcode()) {
            case Opcode.WRITE, Opcode.FSYNC, Opcode.SETATTR, Opcode.SETXATTR -> true;
            default -> false;
        };
    }

    /** Returns whether a WRITE request contains pages that a process has changed in a map. */
    boolean isWriteBack() {
        return (head.get(JAVA_INT, BODY + 20) & KernelProtocol.WRITE_CACHE) != 0;
    }

    /** Returns the bits of the attributes to set, from a SETATTR request. */
    int validAttributes() {
        return head.get(JAVA_INT, BODY);
    }

    /** Returns whether a SETATTR request truncates the file. */
    boolean changesSize() {
        return (validAttributes() & KernelProtocol.SIZE_ATTRIBUTE) != 0;
    }

    /** Returns whether a SETATTR request has the handle of an open file. */
    boolean hasHandle() {
        return (validAttributes() & KernelProtocol.HANDLE_ATTRIBUTE) != 0;
    }

    /** Returns the new size of the file, from a SETATTR request that truncates the file. */
    long newSizeBytes() {
        return head.get(JAVA_LONG, BODY + 16);
    }

    /**
     * Returns the size of the process's buffer, from a GETXATTR or LISTXATTR request. If the size is 0, the process requests only
     * the length of the value or of the list of names.
     */
    int roomBytes() {
        return head.get(JAVA_INT, BODY);
    }

    /** Returns the number of the interrupted request, from an INTERRUPT request. */
    long interruptedUnique() {
        return head.get(JAVA_LONG, BODY);
    }

    /** Returns the name to look up, from a LOOKUP request. */
    String name() {
        return text(BODY);
    }

    /** Returns the name of the attribute, from a GETXATTR request. */
    String attributeName() {
        return text(BODY + 8);
    }

    /** Returns the name of the attribute, from a SETXATTR request. */
    String newAttributeName() {
        // The value is at the end of the request. The name and a zero byte precede it.
        return new String(bytes(BODY + 8, lengthBytes() - head.get(JAVA_INT, BODY) - 1), StandardCharsets.UTF_8);
    }

    /** Returns the value of the attribute, from a SETXATTR request. */
    String newAttributeValue() {
        return new String(bytes(lengthBytes() - head.get(JAVA_INT, BODY), lengthBytes()), StandardCharsets.UTF_8);
    }

    /** Returns the flags of setxattr(2), from a SETXATTR request. */
    int newAttributeFlags() {
        return head.get(JAVA_INT, BODY + 4);
    }

    /** Returns the text from this offset to the final zero byte. */
    private String text(int from) {
        return new String(bytes(from, lengthBytes() - 1), StandardCharsets.UTF_8);
    }

    private byte[] bytes(int from, int end) {
        byte[] bytes = new byte[Math.max(0, end - from)];
        for (int i = 0; i < bytes.length; i++) {
            int at = from + i;
            bytes[i] = at < HEAD_BYTES ? head.get(JAVA_BYTE, at) : rest.get(JAVA_BYTE, restOffset + at - HEAD_BYTES);
        }
        return bytes;
    }
}
