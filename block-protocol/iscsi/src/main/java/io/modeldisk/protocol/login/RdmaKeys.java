package io.modeldisk.protocol.login;

/**
 * Negotiates the additional login keys of a session over RDMA (RFC 7145 section 6). These keys also replace the session's limits
 * for data segments. Initiators and targets use this class. Not thread-safe.
 */
final class RdmaKeys {
    /** The lowest limit for data segments that a peer may declare. A data segment of this length can hold sense data. */
    private static final int MIN_LENGTH_BYTES = 64;

    /** The maximum length of a data segment that this process accepts or sends, even if the peer accepts more. */
    private final int limitBytes;
    private int initiatorTakesBytes;
    private int targetTakesBytes;
    private boolean agreed;

    RdmaKeys(int limitBytes) {
        this.limitBytes = limitBytes;
        this.initiatorTakesBytes = limitBytes;
        this.targetTakesBytes = limitBytes;
    }

    TextParameters offer(TextParameters offers) {
        return offers.put(Key.RDMA_EXTENSIONS, Key.YES)
            .put(Key.INITIATOR_RECV_DATA_SEGMENT_LENGTH, limitBytes)
            .put(Key.TARGET_RECV_DATA_SEGMENT_LENGTH, limitBytes);
    }

    /** Returns the target's response to a login key for RDMA, or null for a declarative key. */
    String answer(String key, String value) {
        return switch (key) {
            case Key.RDMA_EXTENSIONS -> {
                agreed = value.equals(Key.YES);
                yield agreed || value.equals(Key.NO) ? value : Key.REJECT;
            }
            case Key.INITIATOR_RECV_DATA_SEGMENT_LENGTH -> OperationalNegotiation.answerLength(value, MIN_LENGTH_BYTES,
                limitBytes, bytes -> initiatorTakesBytes = bytes);
            case Key.TARGET_RECV_DATA_SEGMENT_LENGTH -> OperationalNegotiation.answerLength(value, MIN_LENGTH_BYTES,
                limitBytes, bytes -> targetTakesBytes = bytes);
            // MaxOutstandingUnexpectedPDUs, MaxAHSLength, TaggedBufferForSolicitedDataOnly and iSERHelloRequired are declarative.
            default -> null;
        };
    }

    /** Checks and stores a target's response. */
    void accept(String key, String value) throws LoginException {
        switch (key) {
            case Key.RDMA_EXTENSIONS -> agreed = value.equals(Key.YES);
            case Key.INITIATOR_RECV_DATA_SEGMENT_LENGTH -> initiatorTakesBytes = accepted(key, value);
            case Key.TARGET_RECV_DATA_SEGMENT_LENGTH -> targetTakesBytes = accepted(key, value);
            default -> {
                // The initiator does not use the other declarations of the target.
            }
        }
    }

    private int accepted(String key, String value) throws LoginException {
        return Math.min(limitBytes, OperationalNegotiation.accepted(key, value, MIN_LENGTH_BYTES,
            OperationalNegotiation.MAX_LENGTH_BYTES));
    }

    boolean isAgreed() {
        return agreed;
    }

    int initiatorTakesBytes() {
        return initiatorTakesBytes;
    }

    int targetTakesBytes() {
        return targetTakesBytes;
    }
}
