package io.modeldisk.aggregator.device;

/** Reports that a device failed while a shard used it. The shard cannot use the device any more. */
public final class DeviceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Creates the exception. {@code message} names the device and describes the failure. */
    public DeviceException(String message, Throwable cause) {
        super(message, cause);
    }
}
