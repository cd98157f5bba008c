package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.cuda.FoldKernels.Work;
import io.modeldisk.aggregator.device.GradientType;
import java.lang.foreign.Arena;
import java.util.HashSet;
import java.util.Set;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests failures of calls to the driver. */
class CudaFaultsTest {
    private static final int BYTES = TwinModel.LOGICAL_BLOCK;
    private static final Set<String> ALL_CALLS = Set.of("cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName",
        "cuDeviceGetAttribute", "cuDeviceTotalMem", "cuCtxCreate", "cuCtxDestroy", "cuCtxSetCurrent",
        "cuCtxSynchronize", "cuMemGetInfo", "cuMemAlloc", "cuMemFree", "cuMemHostAlloc", "cuMemFreeHost",
        "cuMemHostRegister", "cuMemHostUnregister", "cuStreamCreate", "cuStreamDestroy", "cuStreamWaitEvent",
        "cuEventCreate", "cuEventDestroy", "cuEventRecord", "cuEventQuery", "cuModuleLoadDataEx", "cuModuleUnload",
        "cuModuleGetFunction", "cuLaunchKernel", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync",
        "cuMemsetD8Async");

    @BeforeEach
    void setUp() {
        Emulator.assumeEmulated();
        Emulator.reset(1);
        Cuda.ensureAvailability();
    }

    /** Calls every driver function in {@link #ALL_CALLS}. */
    private static void useAll() throws InterruptedException {
        try (Arena arena = Arena.ofShared();
            Aggregator adam = Aggregators.parse("adam:lr=1");
            CudaDevice device = CudaDevice.open(0, 1 << 20)) {
            FoldKernels kernels = new FoldKernels(device, adam, 1, 1);
            CudaStream stream = device.newStream();
            CudaStream mirrors = device.newStream();
            CudaEvent folded = device.newEvent();
            DeviceMemory weights = device.allocate(BYTES);
            DeviceMemory state = device.allocate(2 * BYTES);
            PinnedMemory host = device.allocatePinned(BYTES);
            PinnedMemory registered = device.register(arena.allocate(BYTES, 4096));
            stream.clear(state);
            stream.copyToDevice(registered, weights, BYTES);
            Batch batch = kernels.tryBegin(Work.FOLD);
            batch.fold(new DeviceBlock(weights, state, arena.allocate(8, 8)), 0, weights, 0, GradientType.FLOAT32,
                BYTES, 1, 1);
            batch.launch(stream);
            stream.record(folded);
            mirrors.waitFor(folded);
            mirrors.copyOnDevice(weights, state, BYTES);
            mirrors.copyToHost(weights, host, BYTES);
            assertThat(Emulator.await(batch::isComplete, 10_000)).isTrue();
            batch.release();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {CUresult.CUDA_ERROR_OUT_OF_MEMORY, CUresult.CUDA_ERROR_LAUNCH_FAILED})
    void failureOfAnyDriverCallIsReportedByNameWithoutALeak(int error) {
        Set<String> failed = new HashSet<>();
        Emulator.forEachFailingCall(error, false, CudaFaultsTest::useAll, failure -> {
            String call = Emulator.failedCall();
            assertThat(failure).isInstanceOfSatisfying(CudaException.class, e -> assertThat(e.error()).isEqualTo(error))
                .hasMessageStartingWith(call).hasMessageContaining("(" + error + ")");
            assertThat(Emulator.leaked()).as("objects leaked after a failure of %s", call).isZero();
            assertThat(Emulator.live()).as("open objects after a failure of %s", call).isZero();
            failed.add(call);
        });
        assertThat(failed).isEqualTo(ALL_CALLS);
    }

    @Test
    void lossOfTheDeviceInAnyCallLeaksNothing() {
        Emulator.forEachFailingCall(CUresult.CUDA_ERROR_DEVICE_UNAVAILABLE, true, CudaFaultsTest::useAll, failure -> {
            String call = Emulator.failedCall();
            assertThat(failure).isInstanceOf(CudaException.class).hasMessageStartingWith(call);
            assertThat(Emulator.live()).as("open objects after a failure of %s", call).isZero();
        });
    }

    @Test
    void closeFreesAllObjectsAfterAKernelAccessedFreedMemory() {
        try (Aggregator sum = Aggregators.parse("sum")) {
            CudaDevice device = CudaDevice.open(0, 1 << 20);
            FoldKernels kernels = new FoldKernels(device, sum, 1, 1);
            CudaStream stream = device.newStream();
            DeviceMemory weights = device.allocate(BYTES);
            DeviceMemory gradient = device.allocate(BYTES);
            Batch batch = kernels.tryBegin(Work.FOLD);
            batch.fold(new DeviceBlock(weights, null, null), 0, gradient, 0, GradientType.FLOAT32, BYTES, 1, 1);
            gradient.free();
            batch.launch(stream);
            assertThatThrownBy(() -> Emulator.await(batch::isComplete, 10_000)).isInstanceOfSatisfying(
                CudaException.class,
                e -> assertThat(e.error()).isEqualTo(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS));
            assertThatThrownBy(() -> stream.clear(weights)).isInstanceOf(CudaException.class);
            assertThatThrownBy(device::close).isInstanceOf(CudaException.class);
        }
        assertThat(Emulator.live()).isZero();
    }

    @Test
    void errorNamesThePtxFileThatTheDriverRefuses() {
        try (Aggregator sum = Aggregators.parse("sum");
            CudaDevice device = CudaDevice.open(0, 1 << 20)) {
            Emulator.fail(2, CUresult.CUDA_ERROR_INVALID_PTX, false);
            assertThatThrownBy(() -> new FoldKernels(device, sum, 1, 1)).hasMessage(
                "cuModuleLoadDataEx of copy.ptx on cuda:0 (emulated 0) failed: CUDA_ERROR_INVALID_PTX (218)");
        }
    }
}
