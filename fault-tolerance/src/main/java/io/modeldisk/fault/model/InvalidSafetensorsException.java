package io.modeldisk.fault.model;

import io.modeldisk.platform.SettingException;
import java.io.Serial;

/**
 * Thrown if a file is not a valid safetensors file, or has a feature that modeldisk does not support. The message states the
 * place in the file and the reason.
 */
public final class InvalidSafetensorsException extends SettingException {
    @Serial
    private static final long serialVersionUID = 1;

    InvalidSafetensorsException(String message) {
        this(message, null);
    }

    InvalidSafetensorsException(String message, Throwable cause) {
        super(message, cause);
    }
}
