package io.modeldisk.aggregator.cuda;

import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.aggregator.device.DeviceProvider;
import io.modeldisk.aggregator.device.DeviceShape;

/** Opens NVIDIA GPUs, which are named {@code cuda:N}. */
public final class CudaProvider implements DeviceProvider {
    @Override
    public String kind() {
        return "cuda";
    }

    @Override
    public void check(int number) {
        try {
            CudaDevice.check(number);
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        } catch (CudaException e) {
            throw new DeviceException("the device cuda:" + number + " cannot be used: " + e.getMessage(), e);
        }
    }

    @Override
    public long hostBytes(int blockSizeBytes) {
        return CudaBlocks.hostBytes(blockSizeBytes);
    }

    @Override
    public DeviceBlocks open(int number, DeviceShape shape) {
        try {
            return CudaBlocks.open(number, shape);
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        } catch (CudaException e) {
            throw new DeviceException("the device cuda:" + number + " cannot be opened: " + e.getMessage(), e);
        }
    }
}
