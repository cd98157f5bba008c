package io.modeldisk.protocol.datamover.iser;

/**
 * The four bytes with which both ends of an iSER connection over InfiniBand or RoCE say what they do not do (the annex on iSER of
 * the InfiniBand architecture; Linux: {@code iser_cm_hdr}).
 */
final class IserPrivateData {
    /** Nobody uses zero-based addresses: whoever knows these bytes sets this bit. */
    private static final int NO_ZERO_BASED_ADDRESSES = 0x80;
    private static final int NO_SEND_WITH_INVALIDATE = 0x40;

    private IserPrivateData() {}

    /**
     * What this end says.
     *
     * @param invalidates of an initiator, whether its keys may be invalidated; of a target, whether it will do so
     */
    static byte[] bytes(boolean invalidates) {
        return new byte[]{(byte) (NO_ZERO_BASED_ADDRESSES | (invalidates ? 0 : NO_SEND_WITH_INVALIDATE)), 0, 0, 0};
    }

    /** Whether an initiator that says this wants its keys invalidated; one that says nothing does not. */
    static boolean wantsInvalidation(byte[] said) {
        return said.length > 0 && (said[0] & NO_ZERO_BASED_ADDRESSES) != 0 && (said[0] & NO_SEND_WITH_INVALIDATE) == 0;
    }
}
