package io.modeldisk.server.block;

import io.modeldisk.aggregator.device.Device;
import io.modeldisk.platform.text.EnumNames;

/**
 * A device, and the settings for its use by a shard.
 *
 * @param mirrorsAtOnce whether the device copies the weights to the host after each update, not only when they are pulled
 * @param pushTo where gradients arrive
 */
public record DeviceTarget(Device device, boolean mirrorsAtOnce, PushTo pushTo) {
    /** The memory in which gradients arrive. */
    public enum PushTo {
        /** The memory of the device if an RDMA device can reach it, otherwise host memory. */
        AUTO,
        /** The memory of the device. If no RDMA device can reach it, the shard does not start. */
        DEVICE,
        /** Host memory, from which the device copies gradients. */
        HOST;

        /**
         * Returns the constant with this name.
         *
         * @throws IllegalArgumentException if the name is unknown; the message lists the names
         */
        public static PushTo parse(String text) {
            return EnumNames.parse(PushTo.class, "--push-to", text);
        }

        @Override
        public String toString() {
            return EnumNames.of(this);
        }
    }

    /** Returns the settings as text. */
    @Override
    public String toString() {
        return device + ", pulls from the " + (mirrorsAtOnce ? "host" : "device") + ", pushes to " + pushTo;
    }
}
