package io.modeldisk.protocol.login;

import io.modeldisk.protocol.pdu.LoginStatus;
import java.io.IOException;
import java.io.Serial;

/** A failed login, with the status that the other side receives. */
public final class LoginException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    private final int status;

    /** An initiator error. */
    public LoginException(String message) {
        this(LoginStatus.INITIATOR_ERROR, message);
    }

    /** A failure of the given {@link LoginStatus}. */
    public LoginException(int status, String message) {
        super(message);
        this.status = status;
    }

    /** The {@link LoginStatus}. */
    public int status() {
        return status;
    }
}
