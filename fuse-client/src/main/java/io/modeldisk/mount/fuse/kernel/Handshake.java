package io.modeldisk.mount.fuse.kernel;

import io.modeldisk.platform.linux.Errno;
import java.io.IOException;

/** Serves FUSE INIT, the first request of a session, which negotiates the version, the capabilities and the request sizes. */
final class Handshake {
    private Handshake() {}

    /** Receives INIT on this descriptor and replies to it. Returns the capabilities of the second word that both sides have. */
    static int perform(RequestSlot slot, int fd, boolean wholeBlockWrites) throws IOException {
        long length = slot.receive(fd);
        RequestView request = slot.request();
        if (length < 0 || request.opcode() != Opcode.INIT) {
            throw new IOException("the kernel did not start the FUSE session: "
                + (length < 0 ? Errno.nameOf(-length) : "its first opcode is " + request.opcode() + ", not INIT"));
        }
        if (request.major() != KernelProtocol.MAJOR || request.minor() < KernelProtocol.OLDEST_MINOR) {
            slot.replyError(Errno.EPROTO);
            throw new IOException("the kernel has FUSE protocol " + request.major() + "." + request.minor()
                + ", but modeldisk needs "
                + KernelProtocol.MAJOR + "." + KernelProtocol.OLDEST_MINOR + " or a later minor version (Linux 3.15)");
        }
        int agreed = request.capabilities() & KernelProtocol.CAPABILITIES;
        boolean large = (agreed & KernelProtocol.MAX_PAGES) != 0;
        int pages = large ? KernelProtocol.LARGE_PAGES : KernelProtocol.SMALL_PAGES;
        // The kernel splits a write at a limit of bytes and at a limit of pages. Memory that does not start at a page boundary
        // occupies one more page, so a split at the limit of pages may lie within a logical block. With wholeBlockWrites, the
        // limit of bytes is lower, so that the kernel reaches this limit first and splits between blocks.
        int maxWriteBytes = (wholeBlockWrites ? pages * 3 / 4 : pages) * KernelProtocol.PAGE_BYTES;
        int more = request.moreCapabilities()
            & (KernelProtocol.PASSTHROUGH | KernelProtocol.ALLOW_MMAP | KernelProtocol.HAS_RESEND);
        slot.body().init(Math.min(request.minor(), KernelProtocol.MINOR), request.maxReadaheadBytes(), agreed, more,
            KernelProtocol.BACKGROUND, maxWriteBytes, large ? pages : 0);
        slot.replyBody();
        return more;
    }
}
