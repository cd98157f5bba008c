package io.modeldisk.server.block;

import io.modeldisk.aggregator.device.Device;

/**
 * A device, and how a shard uses it.
 *
 * @param mirrorsAtOnce whether the device copies weights to the host after each update; otherwise when they are pulled
 */
public record DeviceTarget(Device device, boolean mirrorsAtOnce) {
    /** Returns the settings as text. */
    @Override
    public String toString() {
        return device + ", pulls from the " + (mirrorsAtOnce ? "host" : "device");
    }
}
