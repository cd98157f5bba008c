package io.modeldisk.doctor;

import io.modeldisk.aggregator.cuda.CudaReport;
import io.modeldisk.doctor.Finding.Area;
import io.modeldisk.platform.units.ByteSize;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks the driver and the devices that a shard on a GPU needs. */
record GpuCheck(Machine machine, Report report) {
    private static final Path DRIVER = Path.of("/proc/driver/nvidia/version");
    private static final Pattern DRIVER_VERSION = Pattern.compile("Kernel Module.*?\\s(\\d+(\\.\\d+)+)\\s");
    /**
     * The kernel module that gives RDMA devices access to GPU memory without dma-buf: its current name, and its name in old
     * drivers.
     */
    private static final List<Path> PEER_MEMORY = List.of(Path.of("/sys/module/nvidia_peermem"),
        Path.of("/sys/module/nv_peer_mem"));

    private static final String PINNED = "; pushes over iser go through pinned host memory";

    void run() {
        CudaReport cuda = machine.cuda();
        if (cuda.obstacle() != null) {
            report.missing(Area.CUDA, "driver", cuda.obstacle() + " (a container needs --gpus all)");
            return;
        }
        Matcher version = DRIVER_VERSION.matcher(machine.text(DRIVER).orElse(""));
        report.ok(Area.CUDA, "driver", "CUDA " + cuda.cudaVersion() + ", kernel module "
            + (version.find() ? version.group(1) : "of an unknown version"));
        for (int i = 0; i < cuda.devices().size(); i++) {
            device("cuda:" + i, cuda.devices().get(i));
        }
    }

    private void device(String subject, CudaReport.Device device) {
        if (device.obstacle() != null) {
            report.missing(Area.CUDA, subject, device.obstacle());
            return;
        }
        report.ok(Area.CUDA, subject,
            device.name() + ", compute capability " + device.computeCapability() + ", "
                + ByteSize.format(device.totalBytes()) + " of memory, " + ByteSize.format(device.freeBytes())
                + " free, PCI " + device.pciAddress());
        gpuDirect(subject, device);
    }

    private void gpuDirect(String name, CudaReport.Device device) {
        String subject = name + " GPUDirect RDMA";
        boolean peerMemory = PEER_MEMORY.stream().anyMatch(machine::exists);
        String abilities = (device.dmaBuf() ? "the driver has dma-buf" : "the driver has no dma-buf")
            + (peerMemory ? ", nvidia_peermem is loaded" : ", nvidia_peermem is not loaded");
        if (!device.gpuDirectRdma() && !device.dmaBuf()) {
            report.warning(Area.CUDA, subject, "RDMA devices cannot access the memory of this device" + PINNED);
            return;
        }
        if (machine.rdmaObstacle() != null) {
            report.ok(Area.CUDA, subject, abilities + "; not tried, because RDMA cannot be used");
            return;
        }
        GpuDirectTrial trial = machine.gpuDirect(name);
        report.advise(Area.CUDA, subject, trial.way() != null,
            "pushes over iser can go to device memory by " + trial.way() + "; " + abilities,
            "the RDMA device does not reach the memory: " + trial.obstacle() + PINNED
                + (peerMemory ? "" : "; try `modprobe nvidia_peermem`"));
    }
}
