package io.modeldisk.server.model;

import java.io.IOException;
import java.io.Serial;

/** A file is not a valid safetensors file, or this version cannot serve it. The message has the place and the reason. */
public final class InvalidSafetensorsException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    InvalidSafetensorsException(String message) {
        this(message, null);
    }

    InvalidSafetensorsException(String message, Throwable cause) {
        super(message, cause);
    }
}
