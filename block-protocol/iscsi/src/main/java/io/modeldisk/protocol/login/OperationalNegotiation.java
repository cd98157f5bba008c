package io.modeldisk.protocol.login;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * Negotiates the operational keys of a session (RFC 7143 sections 6.2 and 13). A target calls {@link #answer} with the offers of
 * the initiator. An initiator sends its {@link #offers()} and calls {@link #accept} with the responses. Not thread-safe.
 */
public final class OperationalNegotiation {
    private static final int MIN_LENGTH_BYTES = 512;
    static final int MAX_LENGTH_BYTES = (1 << 24) - 1;
    private static final int MAX_TIME_S = 3600;

    /** The digest of a session over RDMA, which has its own checksums (RFC 7145 section 6.1). */
    private static final String NO_DIGEST = Digest.NONE.toString();

    private final OperationalParameters own;
    /** The negotiation of the login keys for RDMA (RFC 7145); null if the session is not over RDMA. */
    private final RdmaKeys rdma;
    private boolean initiator;
    private boolean initialR2t;
    private boolean immediateData;
    private int firstBurstBytes;
    private int maxBurstBytes;
    private int peerDataSegmentBytes = OperationalParameters.DEFAULTS.peerDataSegmentBytes();
    private Digest headerDigest = Digest.NONE;
    private Digest dataDigest = Digest.NONE;
    private boolean declared;
    private String learner;

    /**
     * Starts a negotiation with the limits and preferences in {@code own}; {@code own.peerDataSegmentBytes} is not used. If
     * {@code overRdma} is true, the login keys for RDMA (RFC 7145) are also negotiated.
     */
    public OperationalNegotiation(OperationalParameters own, boolean overRdma) {
        this.own = own;
        this.rdma = overRdma ? new RdmaKeys(own.ownDataSegmentBytes()) : null;
        OperationalParameters defaults = OperationalParameters.DEFAULTS;
        this.initialR2t = defaults.initialR2t();
        this.immediateData = defaults.immediateData();
        // If the initiator offers no length, the default applies, reduced to the limit in own.
        this.firstBurstBytes = Math.min(defaults.firstBurstBytes(), own.firstBurstBytes());
        this.maxBurstBytes = Math.min(defaults.maxBurstBytes(), own.maxBurstBytes());
    }

    /** Returns the offers of an initiator. */
    public TextParameters offers() {
        declared = true;
        initiator = true;
        TextParameters offers = new TextParameters()
            .put(Key.HEADER_DIGEST, own.headerDigest())
            .put(Key.DATA_DIGEST, own.dataDigest())
            .put(Key.MAX_CONNECTIONS, 1)
            .put(Key.INITIAL_R2T, yesOrNo(own.initialR2t()))
            .put(Key.IMMEDIATE_DATA, yesOrNo(own.immediateData()))
            .put(Key.MAX_BURST_LENGTH, own.maxBurstBytes())
            .put(Key.FIRST_BURST_LENGTH, own.firstBurstBytes())
            .put(Key.DEFAULT_TIME2WAIT, 0)
            .put(Key.DEFAULT_TIME2RETAIN, 0)
            .put(Key.MAX_OUTSTANDING_R2T, 1)
            .put(Key.DATA_PDU_IN_ORDER, Key.YES)
            .put(Key.DATA_SEQUENCE_IN_ORDER, Key.YES)
            .put(Key.ERROR_RECOVERY_LEVEL, 0);
        return rdma == null
            ? offers.put(Key.MAX_RECV_DATA_SEGMENT_LENGTH, own.ownDataSegmentBytes())
            : rdma.offer(offers);
    }

    /**
     * Adds the target's response to every offered key to {@code answers}.
     *
     * @param operational whether the login is in its operational stage, in which the target declares MaxRecvDataSegmentLength
     *     once
     */
    public void answer(Map<String, String> offered, TextParameters answers, boolean operational) {
        for (Map.Entry<String, String> pair : offered.entrySet()) {
            String answer = answer(pair.getKey(), pair.getValue());
            if (answer != null) {
                answers.put(pair.getKey(), answer);
            }
        }
        if (operational && !declared && rdma == null) {
            declared = true;
            answers.put(Key.MAX_RECV_DATA_SEGMENT_LENGTH, own.ownDataSegmentBytes());
        }
    }

    /** Returns the response to one key, or null if the key needs no response. */
    private String answer(String key, String value) {
        return switch (key) {
            case Key.INITIATOR_NAME, Key.INITIATOR_ALIAS, Key.TARGET_NAME, Key.SESSION_TYPE, Key.AUTH_METHOD -> null;
            case Key.CHAP_A, Key.CHAP_I, Key.CHAP_C, Key.CHAP_N, Key.CHAP_R -> null;
            case Key.HEADER_DIGEST -> rdma == null ? answerDigest(value, digest -> headerDigest = digest) : NO_DIGEST;
            case Key.DATA_DIGEST -> rdma == null ? answerDigest(value, digest -> dataDigest = digest) : NO_DIGEST;
            case Key.TASK_REPORTING -> List.of(value.split(",")).contains("RFC3720") ? "RFC3720" : Key.REJECT;
            case Key.INITIAL_R2T -> answerInitialR2t(value);
            case Key.IMMEDIATE_DATA -> answerImmediateData(value);
            case Key.DATA_PDU_IN_ORDER, Key.DATA_SEQUENCE_IN_ORDER -> isBoolean(value) ? Key.YES : Key.REJECT;
            case Key.MAX_CONNECTIONS -> number(value, 1, 65535) < 0 ? Key.REJECT : "1";
            case Key.MAX_OUTSTANDING_R2T -> number(value, 1, 65535) < 0 ? Key.REJECT : "1";
            case Key.ERROR_RECOVERY_LEVEL -> number(value, 0, 2) < 0 ? Key.REJECT : "0";
            case Key.PROTOCOL_LEVEL ->
                number(value, 0, 31) < 0 ? Key.REJECT : Integer.toString(Math.min(1, number(value, 0, 31)));
            case Key.DEFAULT_TIME2WAIT -> number(value, 0, MAX_TIME_S) < 0 ? Key.REJECT : value;
            case Key.DEFAULT_TIME2RETAIN -> number(value, 0, MAX_TIME_S) < 0 ? Key.REJECT : "0";
            case Key.MAX_BURST_LENGTH ->
                answerLength(value, MIN_LENGTH_BYTES, own.maxBurstBytes(), bytes -> maxBurstBytes = bytes);
            case Key.FIRST_BURST_LENGTH ->
                answerLength(value, MIN_LENGTH_BYTES, own.firstBurstBytes(), bytes -> firstBurstBytes = bytes);
            case Key.MAX_RECV_DATA_SEGMENT_LENGTH -> declareDataSegment(value);
            case Key.LEARNER -> declareLearner(value);
            case Key.RDMA_EXTENSIONS, Key.INITIATOR_RECV_DATA_SEGMENT_LENGTH, Key.TARGET_RECV_DATA_SEGMENT_LENGTH,
                Key.MAX_OUTSTANDING_UNEXPECTED_PDUS, Key.MAX_AHS_LENGTH, Key.TAGGED_BUFFER_FOR_SOLICITED_DATA_ONLY,
                Key.ISER_HELLO_REQUIRED ->
                rdma == null ? Key.NOT_UNDERSTOOD : rdma.answer(key, value);
            default -> Key.NOT_UNDERSTOOD;
        };
    }

    /** Returns the first known digest of the list, or Reject. The initiator lists the digests in its order of preference. */
    private static String answerDigest(String value, Consumer<Digest> agreed) {
        Digest first = Digest.firstOf(value);
        if (first == null) {
            return Key.REJECT;
        }
        agreed.accept(first);
        return first.toString();
    }

    private String answerInitialR2t(String value) {
        if (!isBoolean(value)) {
            return Key.REJECT;
        }
        initialR2t = own.initialR2t() || value.equals(Key.YES);
        return yesOrNo(initialR2t);
    }

    private String answerImmediateData(String value) {
        if (!isBoolean(value)) {
            return Key.REJECT;
        }
        immediateData = own.immediateData() && value.equals(Key.YES);
        return yesOrNo(immediateData);
    }

    /**
     * Returns the smaller of the offered length and {@code ownBytes}, or Reject if the offered length is invalid or less than
     * {@code least}.
     */
    static String answerLength(String value, int least, int ownBytes, IntConsumer agreed) {
        int offered = number(value, least, MAX_LENGTH_BYTES);
        if (offered < 0) {
            return Key.REJECT;
        }
        agreed.accept(Math.min(ownBytes, offered));
        return Integer.toString(Math.min(ownBytes, offered));
    }

    private String declareDataSegment(String value) {
        int declaredBytes = number(value, MIN_LENGTH_BYTES, MAX_LENGTH_BYTES);
        if (declaredBytes < 0) {
            return Key.REJECT;
        }
        peerDataSegmentBytes = declaredBytes;
        return null;
    }

    private String declareLearner(String value) {
        if (value.isEmpty() || value.length() > 64 || value.chars().anyMatch(c -> c < '!' || c > '~')) {
            return Key.REJECT;
        }
        learner = value;
        return null;
    }

    /**
     * Checks and stores the target's responses to {@link #offers()}.
     *
     * @throws LoginException if the target refuses a required key or responds with a value outside the offer
     */
    public void accept(Map<String, String> answers) throws LoginException {
        for (Map.Entry<String, String> pair : answers.entrySet()) {
            String key = pair.getKey();
            String value = pair.getValue();
            switch (key) {
                case Key.INITIAL_R2T -> initialR2t = accepted(key, value, own.initialR2t(), true);
                case Key.IMMEDIATE_DATA -> immediateData = accepted(key, value, own.immediateData(), false);
                case Key.DATA_PDU_IN_ORDER, Key.DATA_SEQUENCE_IN_ORDER -> acceptedOnly(key, value, Key.YES);
                case Key.MAX_CONNECTIONS, Key.MAX_OUTSTANDING_R2T -> acceptedOnly(key, value, "1");
                case Key.ERROR_RECOVERY_LEVEL, Key.DEFAULT_TIME2RETAIN -> acceptedOnly(key, value, "0");
                // The initiator offers 0. The larger of the two peers' values applies, so the target is allowed to respond with a
                // larger value.
                case Key.DEFAULT_TIME2WAIT -> accepted(key, value, 0, MAX_TIME_S);
                case Key.MAX_BURST_LENGTH ->
                    maxBurstBytes = accepted(key, value, MIN_LENGTH_BYTES, own.maxBurstBytes());
                case Key.FIRST_BURST_LENGTH ->
                    firstBurstBytes = accepted(key, value, MIN_LENGTH_BYTES, own.firstBurstBytes());
                case Key.MAX_RECV_DATA_SEGMENT_LENGTH ->
                    peerDataSegmentBytes = accepted(key, value, MIN_LENGTH_BYTES, MAX_LENGTH_BYTES);
                case Key.HEADER_DIGEST -> {
                    acceptedOnly(key, value, own.headerDigest().toString());
                    headerDigest = own.headerDigest();
                }
                case Key.DATA_DIGEST -> {
                    acceptedOnly(key, value, own.dataDigest().toString());
                    dataDigest = own.dataDigest();
                }
                default -> {
                    // The other keys declare properties of the target, such as TargetAlias, or belong to RDMA.
                    if (rdma != null) {
                        rdma.accept(key, value);
                    }
                }
            }
        }
    }

    /** Checks a response of Yes or No. If the initiator offered {@code decisive}, the target must respond with this value. */
    private static boolean accepted(String key, String value, boolean offered, boolean decisive) throws LoginException {
        if (offered == decisive) {
            acceptedOnly(key, value, yesOrNo(offered));
        } else if (!isBoolean(value)) {
            throw new LoginException(
                "the target responded with " + key + "=" + value + "; the value must be Yes or No");
        }
        return value.equals(Key.YES);
    }

    private static void acceptedOnly(String key, String value, String offered) throws LoginException {
        LoginException.require(value.equals(offered),
            "the target responded with " + key + "=" + value + "; the initiator offered " + offered);
    }

    static int accepted(String key, String value, int least, int most) throws LoginException {
        int number = number(value, least, most);
        LoginException.require(number >= 0,
            "the target responded with " + key + "=" + value + "; the value must be from " + least + " to " + most);
        return number;
    }

    /**
     * Checks at the end of an initiator's negotiation that the target agreed to the required keys.
     *
     * @throws LoginException if the target did not agree to the required digests, or to RDMA
     */
    public void conclude() throws LoginException {
        LoginException.require(rdma == null || rdma.isAgreed(),
            "the target did not respond with RDMAExtensions=Yes, which a session over iSER needs");
        checkResponse(Key.HEADER_DIGEST, headerDigest, own.headerDigest());
        checkResponse(Key.DATA_DIGEST, dataDigest, own.dataDigest());
    }

    private static void checkResponse(String key, Digest agreed, Digest offered) throws LoginException {
        LoginException.require(agreed == offered,
            "the target did not respond to " + key + "=" + offered + ", which the initiator requires");
    }

    /** Returns the parameters that have been agreed on so far. */
    public OperationalParameters result() {
        int takes = own.ownDataSegmentBytes();
        int peerTakes = peerDataSegmentBytes;
        if (rdma != null) {
            takes = initiator ? rdma.initiatorTakesBytes() : rdma.targetTakesBytes();
            peerTakes = initiator ? rdma.targetTakesBytes() : rdma.initiatorTakesBytes();
        }
        return new OperationalParameters(initialR2t, immediateData, Math.min(firstBurstBytes, maxBurstBytes),
            maxBurstBytes,
            takes, peerTakes, headerDigest, dataDigest);
    }

    /** The learner's label that the initiator sent; null if the initiator sent no label. */
    public String learner() {
        return learner;
    }

    private static boolean isBoolean(String value) {
        return value.equals(Key.YES) || value.equals(Key.NO);
    }

    private static String yesOrNo(boolean value) {
        return value ? Key.YES : Key.NO;
    }

    private static int number(String value, int least, int most) {
        return (int) TextConstant.number(value, least, most);
    }
}
