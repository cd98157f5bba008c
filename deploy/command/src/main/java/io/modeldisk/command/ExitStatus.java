package io.modeldisk.command;

import io.modeldisk.platform.SettingException;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.pdu.LoginStatus;
import java.nio.file.AccessDeniedException;
import java.nio.file.NotDirectoryException;

/** The exit statuses of the commands, and the texts about them in the help and in docs/reference.md. */
public final class ExitStatus {
    /** The command has failed, but the same command might succeed later. */
    public static final int FAILED = 1;

    /** The settings are wrong, so the command fails again. The systemd units do not restart a service with this status. */
    public static final int WRONG_SETTINGS = 2;

    /** The heading of the list in the help text. */
    public static final String HEADING = "%nExit status:%n";

    /** The line of {@link #WRONG_SETTINGS}, for commands that have no other reason for it. */
    public static final String WRONG = "2:An argument, option or setting, or a file that it names, "
        + "is wrong or missing.";

    /** The line of {@link #WRONG_SETTINGS} for commands that log in to shards. */
    public static final String WRONG_OR_DENIED = WRONG
        + " Or the shards require a secret, and it is missing or wrong.";

    /** The line of a command that runs until a signal stops it. The JVM sets these statuses. */
    public static final String STOPPED = "143:SIGTERM stopped the process (130: Ctrl-C).";

    private ExitStatus() {}

    /** Returns the exit status of a command that has thrown an exception. */
    static int of(Exception failure) {
        boolean lasting = switch (failure) {
            // The driver of a device can be loaded later.
            case IllegalArgumentException e when e.getCause() instanceof UnsupportedOperationException -> false;
            case IllegalArgumentException _,SettingException _,AccessDeniedException _,NotDirectoryException _ -> true;
            default -> isDenied(failure);
        };
        return lasting ? WRONG_SETTINGS : FAILED;
    }

    /** Returns whether a shard has refused the login because of the secret. */
    private static boolean isDenied(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof LoginException login && login.status() == LoginStatus.AUTHENTICATION_FAILURE) {
                return true;
            }
        }
        return false;
    }
}
