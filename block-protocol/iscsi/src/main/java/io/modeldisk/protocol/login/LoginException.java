package io.modeldisk.protocol.login;

import io.modeldisk.protocol.pdu.LoginStatus;
import java.io.IOException;
import java.io.Serial;

/** A failed login, with the login status that the peer receives, and with the reasons for the peer and for the log. */
public final class LoginException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    private final int status;
    private final String logged;

    /** Creates a failure with {@link LoginStatus#INITIATOR_ERROR}. */
    public LoginException(String message) {
        this(LoginStatus.INITIATOR_ERROR, message);
    }

    /** Creates a failure with the given {@link LoginStatus}. */
    public LoginException(int status, String message) {
        this(status, message, message);
    }

    /**
     * Creates a failure with the given {@link LoginStatus}.
     *
     * @param message the reason, for the peer
     * @param logged the reason for the log, which may name other users
     */
    public LoginException(int status, String message, String logged) {
        super(message);
        this.status = status;
        this.logged = logged;
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

    /** The reason for the log. */
    public String logged() {
        return logged;
    }

    /** The {@link LoginStatus} of the failure. */
    public int status() {
        return status;
    }
}
