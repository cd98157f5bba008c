package io.modeldisk.protocol.login;

import io.modeldisk.protocol.pdu.LoginStatus;
import java.io.IOException;
import java.io.Serial;

/** A failed login, with the login status that the peer receives, and with the reasons for the peer and for the log. */
public final class LoginException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    private final int status;
    private final String details;

    /** Creates a failure with {@link LoginStatus#INITIATOR_ERROR}. */
    public LoginException(String message) {
        this(LoginStatus.INITIATOR_ERROR, message);
    }

    /** Creates a failure with the given {@link LoginStatus}. */
    public LoginException(int status, String message) {
        this(status, message, null);
    }

    /**
     * Creates a failure with the given {@link LoginStatus}.
     *
     * @param message the reason, which the peer may know
     * @param details what only the log may have, such as other users; null if there is nothing
     */
    public LoginException(int status, String message, String details) {
        super(message);
        this.status = status;
        this.details = details;
    }

    /** Fails the login with {@link LoginStatus#INITIATOR_ERROR} unless a condition is met. */
    public static void require(boolean condition, String message) throws LoginException {
        require(condition, LoginStatus.INITIATOR_ERROR, message);
    }

    /** Fails the login with this {@link LoginStatus} unless a condition is met. */
    public static void require(boolean condition, int status, String message) throws LoginException {
        if (!condition) {
            throw new LoginException(status, message);
        }
    }

    /** Returns the reason for the log: the message and the details. */
    public String logged() {
        return details == null ? getMessage() : getMessage() + ": " + details;
    }

    /** The {@link LoginStatus} of the failure. */
    public int status() {
        return status;
    }
}
