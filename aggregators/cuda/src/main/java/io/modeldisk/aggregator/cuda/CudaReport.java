package io.modeldisk.aggregator.cuda;

import io.modeldisk.platform.text.PlainText;
import java.util.List;
import java.util.stream.IntStream;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.JCudaDriver;

/**
 * A report on the GPUs of this machine, which tells an operator whether a shard can use them.
 *
 * @param obstacle the reason why this process cannot use any GPU, in one line; null if the process can use GPUs
 * @param cudaVersion the newest version of CUDA that the driver supports, such as {@code 12.6}; null if there is an obstacle
 * @param devices the devices in the order of their numbers; empty if there is an obstacle
 */
public record CudaReport(String obstacle, String cudaVersion, List<Device> devices) {
    /**
     * A device.
     *
     * @param name the number and the name, such as {@code cuda:0 (NVIDIA H100 PCIe)}
     * @param obstacle the reason why a shard cannot use this device, or null; if not null, the components below have no meaning
     * @param computeCapability the compute capability, such as {@code 9.0}
     * @param totalBytes the size of the device's memory
     * @param freeBytes the number of bytes of this memory that no process uses
     * @param pciAddress the PCI address in the format of /sys/bus/pci/devices, such as {@code 0000:3b:00.0}
     * @param gpuDirectRdma whether an RDMA device can access the memory of this device
     * @param dmaBuf whether the driver can export the memory of this device as a dma-buf
     */
    public record Device(
        String name, String obstacle, String computeCapability, long totalBytes, long freeBytes, String pciAddress,
        boolean gpuDirectRdma, boolean dmaBuf) {
        private static Device unusable(String name, String obstacle) {
            return new Device(name, obstacle, null, 0, 0, null, false, false);
        }
    }

    /** Examines this machine: loads the native libraries, opens each device briefly, and loads a kernel into its memory. */
    public static CudaReport ofThisMachine() {
        if (!Cuda.isAvailable()) {
            return new CudaReport(Cuda.unavailabilityCause(), null, List.of());
        }
        try {
            return new CudaReport(null, Cuda.supportedVersion(),
                IntStream.range(0, Cuda.deviceCount()).mapToObj(CudaReport::device).toList());
        } catch (CudaException e) {
            return new CudaReport(e.getMessage() + "; check with nvidia-smi", null, List.of());
        }
    }

    private static Device device(int ordinal) {
        try (CudaDevice device = CudaDevice.open(ordinal, 1)) {
            // This load checks the driver's library that compiles kernels, which is missing in some containers.
            Kernel.load(device, KernelCall.SUM).close();
            CUdevice handle = new CUdevice();
            CudaException.check("cuDeviceGet", JCudaDriver.cuDeviceGet(handle, ordinal));
            String pciAddress = PlainText.format("%04x:%02x:%02x.0",
                CudaDevice.attribute(handle, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                CudaDevice.attribute(handle, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                CudaDevice.attribute(handle, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
            return new Device(device.toString(), null, device.computeCapability(), device.totalBytes(),
                device.freeBytes(), pciAddress,
                device.attributeIfKnown(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED) != 0,
                device.attributeIfKnown(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) != 0);
        } catch (UnsupportedOperationException | IllegalArgumentException | CudaException e) {
            return Device.unusable("cuda:" + ordinal, e.getMessage());
        }
    }
}
