package io.modeldisk.protocol.login;

/** The names of the text keys (RFC 7143 section 13). */
public final class Key {
    /** The authentication methods. */
    public static final String AUTH_METHOD = "AuthMethod";

    /** The initiator's iSCSI name. */
    public static final String INITIATOR_NAME = "InitiatorName";

    /** The target's iSCSI name. */
    public static final String TARGET_NAME = "TargetName";

    /** The address of a target. */
    public static final String TARGET_ADDRESS = "TargetAddress";

    /** The portal group that the connection belongs to. */
    public static final String TARGET_PORTAL_GROUP_TAG = "TargetPortalGroupTag";

    /** The type of the session: Discovery or Normal. */
    public static final String SESSION_TYPE = "SessionType";

    /** The targets that a discovery session requests. */
    public static final String SEND_TARGETS = "SendTargets";

    /** The length of the longest data segment that the sender of the key accepts. */
    public static final String MAX_RECV_DATA_SEGMENT_LENGTH = "MaxRecvDataSegmentLength";

    /** The label of the learner that opens the session; a key of modeldisk. */
    public static final String LEARNER = "X-io.modeldisk.learner";

    /** The reason in words why the target refuses the login of an authenticated initiator; a key of modeldisk. */
    public static final String REFUSAL = "X-io.modeldisk.refusal";

    /** The authentication method CHAP. */
    public static final String CHAP = "CHAP";

    /** The prefix of the keys of CHAP. */
    public static final String CHAP_PREFIX = "CHAP_";

    /** The algorithms of CHAP. */
    public static final String CHAP_A = "CHAP_A";

    /** The identifier of a challenge. */
    public static final String CHAP_I = "CHAP_I";

    /** The bytes of a challenge. */
    public static final String CHAP_C = "CHAP_C";

    /** The name of the user that responds to a challenge. */
    public static final String CHAP_N = "CHAP_N";

    /** The response to a challenge. */
    public static final String CHAP_R = "CHAP_R";

    static final String RDMA_EXTENSIONS = "RDMAExtensions";
    static final String INITIATOR_RECV_DATA_SEGMENT_LENGTH = "InitiatorRecvDataSegmentLength";
    static final String TARGET_RECV_DATA_SEGMENT_LENGTH = "TargetRecvDataSegmentLength";
    static final String MAX_OUTSTANDING_UNEXPECTED_PDUS = "MaxOutstandingUnexpectedPDUs";
    static final String MAX_AHS_LENGTH = "MaxAHSLength";
    static final String TAGGED_BUFFER_FOR_SOLICITED_DATA_ONLY = "TaggedBufferForSolicitedDataOnly";
    static final String ISER_HELLO_REQUIRED = "iSERHelloRequired";
    static final String HEADER_DIGEST = "HeaderDigest";
    static final String DATA_DIGEST = "DataDigest";
    static final String MAX_CONNECTIONS = "MaxConnections";
    static final String INITIAL_R2T = "InitialR2T";
    static final String IMMEDIATE_DATA = "ImmediateData";
    static final String MAX_BURST_LENGTH = "MaxBurstLength";
    static final String FIRST_BURST_LENGTH = "FirstBurstLength";
    static final String DEFAULT_TIME2WAIT = "DefaultTime2Wait";
    static final String DEFAULT_TIME2RETAIN = "DefaultTime2Retain";
    static final String MAX_OUTSTANDING_R2T = "MaxOutstandingR2T";
    static final String DATA_PDU_IN_ORDER = "DataPDUInOrder";
    static final String DATA_SEQUENCE_IN_ORDER = "DataSequenceInOrder";
    static final String ERROR_RECOVERY_LEVEL = "ErrorRecoveryLevel";
    static final String TASK_REPORTING = "TaskReporting";
    static final String PROTOCOL_LEVEL = "iSCSIProtocolLevel";
    static final String INITIATOR_ALIAS = "InitiatorAlias";
    static final String TARGET_ALIAS = "TargetAlias";

    /** The response to an unknown key. */
    static final String NOT_UNDERSTOOD = "NotUnderstood";

    /** The response to an invalid value. */
    static final String REJECT = "Reject";

    /** The value that disables a feature. */
    public static final String NONE = "None";
    static final String YES = "Yes";
    static final String NO = "No";

    private Key() {}
}
