package io.modeldisk.protocol.login;

/**
 * The parameters that both sides of a session agreed on (RFC 7143 section 13).
 *
 * @param initialR2t whether data after a write command needs an R2T
 * @param immediateData whether a write command may carry data
 * @param firstBurstBytes the most unsolicited data of a write: with the command and after it
 * @param maxBurstBytes the longest sequence of Data-In PDUs, and the most data that one R2T asks for
 * @param ownDataSegmentBytes the longest data segment that this side accepts
 * @param peerDataSegmentBytes the longest data segment that the other side accepts
 * @param headerDigest the digest of headers
 * @param dataDigest the digest of data segments
 */
public record OperationalParameters(
    boolean initialR2t,
    boolean immediateData,
    int firstBurstBytes,
    int maxBurstBytes,
    int ownDataSegmentBytes,
    int peerDataSegmentBytes,
    Digest headerDigest,
    Digest dataDigest) {

    /** The values before negotiation: the defaults of RFC 7143 section 13. */
    public static final OperationalParameters DEFAULTS = new OperationalParameters(true, true, 64 * 1024, 256 * 1024,
        8192, 8192, Digest.NONE, Digest.NONE);

    /** The bytes of a write of {@code lengthBytes} that its command may carry. */
    public int immediateBytes(int lengthBytes) {
        return immediateData ? Math.min(lengthBytes, Math.min(firstBurstBytes, peerDataSegmentBytes)) : 0;
    }
}
