package io.modeldisk.protocol.datamover.iser;

/**
 * The four bytes in which each end of an iSER connection over InfiniBand or RoCE states the features that it does not use (annex
 * on iSER of the InfiniBand architecture; Linux: {@code iser_cm_hdr}).
 */
final class IserPrivateData {
    /** Zero-based addresses are not used. Every known implementation sets this bit. */
    private static final int NO_ZERO_BASED_ADDRESSES = 0x80;
    private static final int NO_SEND_WITH_INVALIDATE = 0x40;

    private IserPrivateData() {}

    /**
     * The bytes of this end.
     *
     * @param invalidates of an initiator: whether its keys may be invalidated; of a target: whether it will invalidate them
     */
    static byte[] bytes(boolean invalidates) {
        return new byte[]{(byte) (NO_ZERO_BASED_ADDRESSES | (invalidates ? 0 : NO_SEND_WITH_INVALIDATE)), 0, 0, 0};
    }

    /** Whether an initiator with these bytes wants its keys invalidated; without bytes it does not. */
    static boolean wantsInvalidation(byte[] said) {
        return said.length > 0 && (said[0] & NO_ZERO_BASED_ADDRESSES) != 0 && (said[0] & NO_SEND_WITH_INVALIDATE) == 0;
    }
}
