package io.modeldisk.platform;

import java.io.IOException;
import java.io.Serial;

/**
 * Thrown if a setting, or a file that a setting names, cannot be used. The same settings fail again, so a service manager must
 * not repeat the start.
 */
public class SettingException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    /** Creates a failure. The message states what is wrong and what to do. */
    public SettingException(String message) {
        this(message, null);
    }

    /** Creates a failure with the exception that caused it; null for none. */
    public SettingException(String message, Throwable cause) {
        super(message, cause);
    }
}
