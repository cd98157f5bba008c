package io.modeldisk.server.model;

import java.io.IOException;
import java.io.Serial;

/** A file is not a sound safetensors file, or not one this version can serve; the message says where and why. */
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
