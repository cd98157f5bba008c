package io.modeldisk.protocol.login;

/**
 * The parameters that the initiator and the target of a session agreed on (RFC 7143 section 13).
 *
 * @param initialR2t whether the initiator must wait for an R2T before it sends data after a write command
 * @param immediateData whether a write command may carry data
 * @param firstBurstBytes the maximum length of a write's unsolicited data, including the data in the command
 * @param maxBurstBytes the maximum length of a sequence of Data-In PDUs, and of the data that one R2T requests
 * @param ownDataSegmentBytes the maximum length of a data segment that this process accepts
 * @param peerDataSegmentBytes the maximum length of a data segment that the peer accepts
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

    /** Returns the maximum amount of immediate data, in bytes, in a write of {@code lengthBytes} bytes. */
    public int immediateBytes(int lengthBytes) {
        return immediateData ? Math.min(lengthBytes, Math.min(firstBurstBytes, peerDataSegmentBytes)) : 0;
    }
}
