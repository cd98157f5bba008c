package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.cuda.CudaReport.Device;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CudaReportTest {
    private static final int CALLS_BEFORE_THE_FIRST_DEVICE = 2;

    @BeforeEach
    void setUp() {
        Emulator.reset(1);
        Cuda.ensureAvailability();
    }

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(Emulator.live()).isZero();
        assertThat(Emulator.leaked()).isZero();
    }

    @Test
    void reportDescribesEveryDevice() {
        Emulator.reset(2, Emulator.VERSION, 9, 0, 1);
        CudaReport report = CudaReport.ofThisMachine();
        assertThat(report.obstacle()).isNull();
        assertThat(report.cudaVersion()).isEqualTo("12.6");
        assertThat(report.devices()).containsExactly(
            new Device("cuda:0 (emulated 0)", null, "9.0", Emulator.MEMORY_BYTES, Emulator.MEMORY_BYTES, "ffff:e0:1f.0",
                true, true),
            new Device("cuda:1 (emulated 1)", null, "9.0", Emulator.MEMORY_BYTES, Emulator.MEMORY_BYTES, "ffff:e1:1f.0",
                true, true));
    }

    @Test
    void reportShowsNoDmaBufWithAnOldDriver() {
        Emulator.reset(1, 11000, 7, 0, 1);
        assertThat(CudaReport.ofThisMachine().devices()).singleElement()
            .matches(device -> device.gpuDirectRdma() && !device.dmaBuf());
    }

    @Test
    void reportStatesThatADeviceIsTooOld() {
        Emulator.reset(1, Emulator.VERSION, 6, 1, 1);
        assertThat(CudaReport.ofThisMachine().devices()).singleElement().extracting(Device::obstacle).isEqualTo(
            "the device cuda:0 (emulated 0) has the compute capability 6.1; at least 7.0 is needed");
    }

    @Test
    void reportStatesEveryFailedDriverCallAsObstacle() {
        Emulator.fail(0, 0, false);
        CudaReport.ofThisMachine();
        int calls = Emulator.calls();
        for (int call = 1; call <= calls; call++) {
            Emulator.reset(1);
            Emulator.fail(call, CUresult.CUDA_ERROR_LAUNCH_FAILED, false);
            CudaReport report = CudaReport.ofThisMachine();
            String obstacle = call <= CALLS_BEFORE_THE_FIRST_DEVICE
                ? report.obstacle()
                : report.devices().getFirst().obstacle();
            assertThat(obstacle).as("failure of call %d", call).startsWith(Emulator.failedCall() + " ")
                .contains(" failed");
            assertThat(Emulator.live()).isZero();
        }
    }
}
