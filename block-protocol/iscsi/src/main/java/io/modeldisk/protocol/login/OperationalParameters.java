package io.modeldisk.protocol.login;

/**
 * What both sides of a session agreed on (RFC 7143 section 13), all lengths in bytes.
 *
 * @param initialR2t whether no data may follow a write unasked, but for immediate data
 * @param immediateData whether a write's command may carry data
 * @param firstBurstBytes the most data a write may send unasked: with the command and after it
 * @param maxBurstBytes the longest sequence of Data-In PDUs, and the most one R2T asks for
 * @param ownDataSegmentBytes the longest data segment that this side takes
 * @param peerDataSegmentBytes the longest data segment that the other side takes
 * @param headerDigest what protects headers
 * @param dataDigest what protects data segments
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

    /** What holds before anything is negotiated (RFC 7143 section 13, the defaults). */
    public static final OperationalParameters DEFAULTS = new OperationalParameters(true, true, 64 * 1024, 256 * 1024,
        8192, 8192, Digest.NONE, Digest.NONE);

    /** How much of a write's {@code lengthBytes} may travel with its command. */
    public int immediateBytes(int lengthBytes) {
        return immediateData ? Math.min(lengthBytes, Math.min(firstBurstBytes, peerDataSegmentBytes)) : 0;
    }
}
