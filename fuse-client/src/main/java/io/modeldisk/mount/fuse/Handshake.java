package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import java.io.IOException;

/** The first request of a session, INIT: agrees on the protocol version, the capabilities and the request sizes. */
final class Handshake {
    private Handshake() {}

    /** Receives INIT and answers it. */
    static void perform(RequestSlot slot, boolean wholeBlockWrites) throws IOException {
        long length = slot.receive();
        RequestView request = slot.request();
        if (length < 0 || request.opcode() != Opcode.INIT) {
            throw new IOException("the kernel did not start the FUSE session: "
                + (length < 0 ? Errno.nameOf(-length) : "request " + request.opcode() + " before INIT"));
        }
        if (request.major() != KernelProtocol.MAJOR || request.minor() < KernelProtocol.OLDEST_MINOR) {
            slot.replyError(Errno.EPROTO);
            throw new IOException("the kernel has FUSE protocol " + request.major() + "." + request.minor()
                + "; modeldisk needs "
                + KernelProtocol.MAJOR + "." + KernelProtocol.OLDEST_MINOR + " or a later minor version (Linux 3.15)");
        }
        int agreed = request.capabilities() & KernelProtocol.CAPABILITIES;
        boolean large = (agreed & KernelProtocol.MAX_PAGES) != 0;
        int pages = large ? KernelProtocol.LARGE_PAGES : KernelProtocol.SMALL_PAGES;
        // The kernel also ends a request when its pages are used up. Memory that does not start on a page takes a page more
        // than its length, so the request would end within a logical block: the size limit must come first.
        int maxWriteBytes = (wholeBlockWrites ? pages * 3 / 4 : pages) * KernelProtocol.PAGE_BYTES;
        slot.body().init(Math.min(request.minor(), KernelProtocol.MINOR), request.maxReadaheadBytes(), agreed,
            KernelProtocol.BACKGROUND, maxWriteBytes, large ? pages : 0);
        slot.replyBody();
    }
}
