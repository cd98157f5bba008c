package io.modeldisk.protocol.pdu;

/** Status class and detail of a Login Response (RFC 7143 section 11.13.5), as one 16-bit number. */
public final class LoginStatus {
    /** Success. */
    public static final int SUCCESS = 0x0000;

    /** Miscellaneous initiator error. */
    public static final int INITIATOR_ERROR = 0x0200;

    /** The initiator could not be authenticated. */
    public static final int AUTHENTICATION_FAILURE = 0x0201;

    /** The initiator is not allowed to use the target. */
    public static final int AUTHORIZATION_FAILURE = 0x0202;

    /** The target does not exist. */
    public static final int TARGET_NOT_FOUND = 0x0203;

    /** The requested version is not supported. */
    public static final int UNSUPPORTED_VERSION = 0x0205;

    /** No more connections in this session. */
    public static final int TOO_MANY_CONNECTIONS = 0x0206;

    /** A name or another required key is missing. */
    public static final int MISSING_PARAMETER = 0x0207;

    /** The target does not support this type of session. */
    public static final int SESSION_TYPE_NOT_SUPPORTED = 0x0209;

    /** The session that a connection is to be added to does not exist. */
    public static final int SESSION_DOES_NOT_EXIST = 0x020A;

    /** A request arrived in the wrong stage of the login. */
    public static final int INVALID_DURING_LOGIN = 0x020B;

    /** The target is out of memory, connections or the like. */
    public static final int OUT_OF_RESOURCES = 0x0302;

    private LoginStatus() {}

    /** The text of a status. */
    public static String describe(int status) {
        return switch (status) {
            case SUCCESS -> "success";
            case INITIATOR_ERROR -> "initiator error";
            case AUTHENTICATION_FAILURE -> "authentication failed";
            case AUTHORIZATION_FAILURE -> "this initiator is not allowed there";
            case TARGET_NOT_FOUND -> "target not found: no model of that name is served there";
            case UNSUPPORTED_VERSION -> "version not supported";
            case TOO_MANY_CONNECTIONS -> "too many connections";
            case MISSING_PARAMETER -> "a required key is missing";
            case SESSION_TYPE_NOT_SUPPORTED -> "session type not supported";
            case SESSION_DOES_NOT_EXIST -> "no such session";
            case INVALID_DURING_LOGIN -> "not valid during login";
            case OUT_OF_RESOURCES -> "the target is out of resources";
            default -> "login status %04Xh".formatted(status);
        };
    }
}
