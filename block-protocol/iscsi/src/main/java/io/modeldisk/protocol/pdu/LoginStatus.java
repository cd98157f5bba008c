package io.modeldisk.protocol.pdu;

import io.modeldisk.platform.text.PlainText;

/** The values of status class and status detail in a Login Response (RFC 7143 section 11.13.5), as one 16-bit number. */
public final class LoginStatus {
    /** The login succeeded. */
    public static final int SUCCESS = 0x0000;

    /** The initiator made an error for which there is no other status. */
    public static final int INITIATOR_ERROR = 0x0200;

    /** The initiator could not be authenticated. */
    public static final int AUTHENTICATION_FAILURE = 0x0201;

    /** The initiator is not allowed to use the target. */
    public static final int AUTHORIZATION_FAILURE = 0x0202;

    /** The target does not exist. */
    public static final int TARGET_NOT_FOUND = 0x0203;

    /** The requested version is not supported. */
    public static final int UNSUPPORTED_VERSION = 0x0205;

    /** The session has reached its limit of connections. */
    public static final int TOO_MANY_CONNECTIONS = 0x0206;

    /** A name or another required key is missing. */
    public static final int MISSING_PARAMETER = 0x0207;

    /** The target does not support this type of session. */
    public static final int SESSION_TYPE_NOT_SUPPORTED = 0x0209;

    /** The session to which the initiator adds a connection does not exist. */
    public static final int SESSION_DOES_NOT_EXIST = 0x020A;

    /** A request arrived in the wrong stage of the login. */
    public static final int INVALID_DURING_LOGIN = 0x020B;

    /** The target has no more memory, connections or other resources. */
    public static final int OUT_OF_RESOURCES = 0x0302;

    private LoginStatus() {}

    /** Returns the text of a status. */
    public static String describe(int status) {
        return switch (status) {
            case SUCCESS -> "success";
            case INITIATOR_ERROR -> "initiator error";
            case AUTHENTICATION_FAILURE -> "authentication failed";
            case AUTHORIZATION_FAILURE ->
                "this initiator is not allowed to use the target";
            case TARGET_NOT_FOUND -> "target not found: no model with this name is served at this address";
            case UNSUPPORTED_VERSION -> "the target does not support this iSCSI version";
            case TOO_MANY_CONNECTIONS -> "the session has too many connections";
            case MISSING_PARAMETER -> "a required key is missing";
            case SESSION_TYPE_NOT_SUPPORTED -> "the target does not support this session type";
            case SESSION_DOES_NOT_EXIST -> "the session does not exist";
            case INVALID_DURING_LOGIN -> "the request is not valid in this stage of the login";
            case OUT_OF_RESOURCES -> "the target is out of resources";
            default -> PlainText.format("login status %04Xh", status);
        };
    }
}
