package io.modeldisk.command.options;

import io.modeldisk.aggregator.device.Device;
import io.modeldisk.platform.Arguments;
import io.modeldisk.server.block.DeviceTarget;
import io.modeldisk.server.block.DeviceTarget.PushTo;
import picocli.CommandLine.Option;

/** The options for a shard that keeps its weights on a device, such as a GPU. */
public final class ServeDevice {
    @Option(names = "--device", paramLabel = "DEVICE",
        description = "Keep the weights in the memory of a device, and apply gradients there. cuda:N is NVIDIA's GPU number "
            + "N. If the device fails, the process ends as if it was killed. Default: the CPU applies gradients.")
    private String device;

    @Option(names = "--pull-from", paramLabel = "PLACE", defaultValue = "host",
        description = "With --device, where pulls find weights. host: in host memory, to which the device copies a block "
            + "after each update. device: the device copies a block when it is pulled.")
    private String pullFrom;

    @Option(names = "--push-to", paramLabel = "PLACE", defaultValue = "auto",
        description = "With --device, where gradients over iser arrive. device: in the memory of the device, by GPUDirect "
            + "RDMA; a shard that cannot do so does not start. host: in host memory, from which the device copies them. auto: in "
            + "the memory of the device if possible, otherwise in host memory.")
    private String pushTo;

    /** Returns the device; null if the CPU applies gradients. */
    public DeviceTarget target() {
        Arguments.require(pullFrom.equals("host") || pullFrom.equals("device"),
            "--pull-from=" + pullFrom + " must be host or device");
        PushTo place = PushTo.parse(pushTo);
        if (device == null) {
            Arguments.require(pullFrom.equals("host") && place == PushTo.AUTO,
                "--pull-from and --push-to need --device");
            return null;
        }
        return new DeviceTarget(Device.named(device), pullFrom.equals("host"), place);
    }
}
