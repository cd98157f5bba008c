package io.modeldisk.protocol.datamover.iser;

/**
 * The four bytes of private data on an iSER connection over InfiniBand or RoCE. In these bytes, each peer states the features
 * that it does not use (annex on iSER of the InfiniBand architecture; Linux: {@code iser_cm_hdr}).
 */
final class IserPrivateData {
    /** The peer does not use zero-based addresses. Every known implementation sets this bit. */
    private static final int NO_ZERO_BASED_ADDRESSES = 0x80;
    private static final int NO_SEND_WITH_INVALIDATE = 0x40;

    private IserPrivateData() {}

    /**
     * Returns the private data that this process sends.
     *
     * @param invalidates at an initiator, whether it allows the target to invalidate memory keys; at a target, whether it will
     *     invalidate memory keys
     */
    static byte[] bytes(boolean invalidates) {
        return new byte[]{(byte) (NO_ZERO_BASED_ADDRESSES | (invalidates ? 0 : NO_SEND_WITH_INVALIDATE)), 0, 0, 0};
    }

    /** Returns whether the initiator allows the target to invalidate memory keys; false without private data. */
    static boolean wantsInvalidation(byte[] said) {
        return said.length > 0 && (said[0] & NO_ZERO_BASED_ADDRESSES) != 0 && (said[0] & NO_SEND_WITH_INVALIDATE) == 0;
    }
}
