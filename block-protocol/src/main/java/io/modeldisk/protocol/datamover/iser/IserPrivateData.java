package io.modeldisk.protocol.datamover.iser;

/**
 * The four bytes with which both ends of an iSER connection over InfiniBand or RoCE say what they do not do (the annex on iSER of
 * the InfiniBand architecture; Linux: {@code iser_cm_hdr}): neither zero-based addresses nor sends that invalidate a key.
 */
final class IserPrivateData {
    private static final int NO_ZERO_BASED_ADDRESSES = 0x80;

    /** DiSNI's prepared requests cannot name another key each time, so the initiator invalidates for itself. */
    private static final int NO_SEND_WITH_INVALIDATE = 0x40;

    private IserPrivateData() {}

    static byte[] bytes() {
        return new byte[]{(byte) (NO_ZERO_BASED_ADDRESSES | NO_SEND_WITH_INVALIDATE), 0, 0, 0};
    }
}
